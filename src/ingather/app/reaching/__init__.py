"""How hosts are reached beside plain http: logins, proxies, other protocols, put together from settings and sources.

``logins`` picks the login for a URL and makes it with its secrets, ``ledger`` keeps count of refusals in files that all processes share,
``protocols`` makes the fetchers of ftp, ftps, sftp, smb and files, and puts WebDAV before http, ``starting`` opens protocols and folders for a run. ``proxies`` says which proxy a source takes, ``pac_jobs`` is the process that
runs a PAC file, ``ftp_proxies`` takes ftp through HTTP proxies, ``proxy_testing`` tells what would happen.
"""
