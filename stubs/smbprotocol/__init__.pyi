# What fetch/shares/smb_line.py uses; the package has no types of its own.
