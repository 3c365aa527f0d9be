"""The whole answer to "why": assembled, never decided here.

A question about a URL passes through what the rest of the house knows (``answering``): the
catalog's row and history, the filters run again over the stored body with every step recorded (the
same code as the crawl), robots.txt as it was read, RD layers, holds and tombstones, the index. ``headline`` says in one sentence why the URL is, or is not, in search, ``printing`` tells it all on a terminal. For a
URL that was never seen the decision is made live and nothing is stored. ``simulated`` prints what a
configuration would do with URLs; ``forms`` are verdicts and steps as both show them. The diff of a
replay is told by ``replayed`` as text and by ``replay_page`` as one HTML file.
"""

from ingather.explain.answering import Explainer, ExplainParts
from ingather.explain.headline import headline
from ingather.explain.printing import as_text
from ingather.explain.replay_page import replay_page
from ingather.explain.replayed import replay_text
from ingather.explain.simulated import simulation_text

__all__ = [
    "ExplainParts",
    "Explainer",
    "as_text",
    "headline",
    "replay_page",
    "replay_text",
    "simulation_text",
]
