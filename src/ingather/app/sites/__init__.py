"""Sites and converters by verb and by HTTP, with the files of ``config/`` kept in step.

``editing`` changes one file of the configuration and publishes it as ``ingather conf publish`` does: checked whole, kept as a version,
taken over by who gathers; one edit at a time, and never over something that somebody else changed meanwhile. ``sites`` says what is
changed in filterrules.conf, ``converters`` what in filter.conf; ``counting`` says how many documents a site has; ``fields`` reads what
comes as a flat form.
"""
