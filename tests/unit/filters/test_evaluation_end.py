"""What a page leaves behind goes at once."""

import gc

from ingather.conf import load_bodies, shipped
from ingather.filters import Engine
from ingather.model.candidate import Candidate


def test_an_evaluation_that_ended_needs_no_collector_and_keeps_its_verdicts() -> None:
    engine = Engine(load_bodies({name: body.encode() for name, body in shipped().items()}))
    evaluation = engine.evaluation(
        Candidate(url="http://a.example/x.html", depth=1, max_depth=None, source="web")
    )
    engine.metadata(evaluation)
    before = evaluation.generation
    gc.collect()
    gc.disable()
    try:
        evaluation.end()
        assert evaluation.generation is before
        del evaluation
        assert gc.collect() == 0
    finally:
        gc.enable()
