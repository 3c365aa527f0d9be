"""The robot under control: its states over a running home, its runs, what happens after them, who may command it.

``conductor`` carries commands out and turns one run into the next; ``runs`` begins and ends them; ``hook`` calls the
operator's program; ``statefile`` keeps what an operator set across restarts; ``port`` opens the command port; ``desk``
is how the admin listener and ``ingather robot`` get at it; ``form`` is the status.
"""
