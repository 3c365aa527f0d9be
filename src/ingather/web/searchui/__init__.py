"""The search page: one template, rendered on the server, whole without scripts.

An address is read into an ``Asked`` (``ingather.web.asking``), the search service answers it,
``view`` turns the answer into what the page shows (links with the filters they would set, crumbs
of paths, pages), and ``templates/search.html`` lays it out. Where scripts run, htmx fetches the
same page and puts its main part in the place of the old one; there is no second rendering.
``signposts`` tells browsers and robots what this is.
"""
