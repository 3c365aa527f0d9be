"""Two names of one host: found by what both show, chosen by a person, applied to the keys of URLs.

``finding`` compares samples of what hosts show, ``judging`` says why two hosts must not become one (access, credentials, chains),
``desk`` carries out what people want of a home, ``keeping`` is what a keeper has in force: its starting points, and what it gives gatherers.
How keys are folded stands in ``ingather.robot.visit.hostnames``.
"""
