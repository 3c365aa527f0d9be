# What fetch/smb_line.py uses; the package has no types of its own.
