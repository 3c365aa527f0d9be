"""Plug-ins to copy into the plug-in folder and to change."""
