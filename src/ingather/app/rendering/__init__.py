"""Pages made by JavaScript, read with the Chromium of the operating system.

The journey of a page: ``browser`` takes it (one page at a time for each browser, one source for each life of a browser) and starts
Chromium if none runs: ``finding`` says which and as whom, ``flags`` is its command line, ``launching`` starts it behind ``locking``, which takes
network, files and privileges away. ``devtools`` speaks its protocol over a pipe. ``session`` leads one page: every request that the browser
wants to make stops at us, is judged by ``gate`` and answered out of our own fetcher (scripts and styles kept in ``keeping``). What goes round that
meets ``closed_door``, a proxy that lets nothing through and counts, in a network that has nothing else. ``snapshot`` takes the
document when its time is over.
"""
