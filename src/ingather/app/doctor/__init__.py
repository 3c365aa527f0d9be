"""The doctor: looks at machine and home, and says of each trouble what to do about it. Nothing is changed.

``finding`` is the shape of an answer, ``machine`` looks at what the operating system gives, ``homely`` at files and disk,
``stored`` at catalog, bodies and index, ``secretive`` at
secrets for hosts, ``listening`` at ports, ``examining`` runs them all.
"""

from ingather.app.doctor.examining import examine
from ingather.app.doctor.finding import Finding, Level

__all__ = ["Finding", "Level", "examine"]
