"""Servers and trees of files: ftp, ftps, sftp, smb, file, WebDAV; a folder becomes a page of links."""
