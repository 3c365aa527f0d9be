"""URL patterns of the Google Search Appliance: read, checked and compiled.

``reading`` makes a pattern of a line (``gnu`` translates expressions, ``literals`` spells texts as canonical URLs do,
``finding`` says what is wrong); ``compiling`` makes tables of many, for URLs as ``subject`` takes them apart; ``lists``
has a file's list, and the rule of two lists: in Follow, and not in Do Not Follow. ``gates`` finds the lists of a
configuration, global and of one source.
"""

from ingather.conf.urlpatterns.gates import NO_GATES, Gates
from ingather.conf.urlpatterns.lists import Crawled, Follow, Hit, PatternList

__all__ = ["NO_GATES", "Crawled", "Follow", "Gates", "Hit", "PatternList"]
