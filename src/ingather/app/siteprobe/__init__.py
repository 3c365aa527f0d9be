"""Looking at a site before it is crawled: ``ingather site probe`` and ``POST /api/v1/sites/probe``.

``targets`` says which hosts are meant; ``probing`` looks at one after the other with the parts of ``asking`` (requests through the egress
gate, robots.txt obeyed, one connection at a time to a host, its delay between two). What was seen is judged by plain functions: ``names``
(name service), ``redirects``, ``robots``, ``ports``, ``certificate``, ``forms`` and ``discovery`` (sitemaps, feeds, logins); ``suggestion``
makes a ``<Site>`` of it. Each remark is a ``finding``: what it is about, how bad, what it is, what to do.
"""
