"""The reference says what the code does."""

from pathlib import Path

from ingather.web.boundary import RequestLimits
from ingather.web.listening import ConnectionLimits
from ingather.web.parts import WebLimits
from ingather.web.role_matrix import renewed
from ingather.web.routes import ROUTES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "http.md"


def test_the_role_matrix_is_the_route_table() -> None:
    text = PAGE.read_text("utf-8")
    assert renewed(text) == text, "run: python -m ingather.web.role_matrix docs/reference/http.md"


def test_no_address_stands_twice_in_the_table() -> None:
    addresses = [(e.listener, e.path, method) for e in ROUTES for method in e.methods]
    assert len(addresses) == len(set(addresses))


def test_the_limits_are_those_of_the_reference() -> None:
    text = PAGE.read_text("utf-8")
    request, web, connection = RequestLimits(), WebLimits(), ConnectionLimits()
    assert f"| path and query | {request.target_bytes // 1024} KiB |" in text
    assert (
        f"| header fields | {request.head_fields}, together {request.head_bytes // 1024} KiB, {connection.head_s:g} seconds |"
        in text
    )
    assert f"| body | {request.body_bytes // 1024} KiB, {request.body_s:g} seconds |" in text
    assert (
        f"| a search | {web.query_s:g} seconds, waiting included; {web.search_threads} at once, {web.search_waiting} waiting |"
        in text
    )
    assert (
        f"| connections of a listener | {connection.total}, of them {connection.per_address} from one address |"
        in text
    )
