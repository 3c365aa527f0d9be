"""Secrets: passwords, keys and tokens by which we show ourselves to others.

``files`` reads a secret that lies in a file of its own. ``store`` keeps secrets by name in ``HOME/secrets.json``, encrypted; ``keyfile`` has
the key, which lies outside the home. A secret goes from there to what sends it, and nowhere else: no ``repr``, message or answer
has one in it.
"""

from ingather.app.secrets.files import require_private, secret_of
from ingather.app.secrets.keyfile import KeyFile
from ingather.app.secrets.store import FILE, Secret, SecretStore, is_secret_name

__all__ = ["FILE", "KeyFile", "Secret", "SecretStore", "is_secret_name", "require_private", "secret_of"]
