"""The composition roots: settings become running parts, one file for each kind of process.

``home`` is the folder in which everything lies, ``homelock`` keeps a second process out of it,
``disk`` says whether there is room for more, ``configuration`` reads every file of it at once. Nothing
else knows the concrete classes.
"""
