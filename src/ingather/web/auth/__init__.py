"""Who may: the admin token, sessions of browsers, and the proof that a request was meant.

A request comes to ``guard`` with the role that the route table wants. A program shows the token
as ``Authorization: Bearer``; a browser logs in with it once (``credentials`` compares, and slows
guessing down) and gets a session (``sessions``) in a cookie that no other site's page can send.
Whatever changes state must come from our own page (Origin and Fetch Metadata) and, when a cookie
vouches for it, carry the session's own secret as well.
"""

from ingather.web.auth.credentials import Secret, TokenGate
from ingather.web.auth.guard import Guard, Identity
from ingather.web.auth.sessions import Session, Sessions

__all__ = ["Guard", "Identity", "Secret", "Session", "Sessions", "TokenGate"]
