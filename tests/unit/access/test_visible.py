"""What a viewer may see, and the filter that says so to the index."""

from hypothesis import given
from hypothesis import strategies as st

from ingather.access import ANONYMOUS, NOBODY, PUBLIC, FormKind, Visible, chain_of

CHAINS = st.integers(0, 40)


def lets_through(view: Visible, chain: int) -> bool:
    """Evaluate the form as the index does."""
    form = view.form()
    if form.kind is FormKind.ONLY:
        return chain in form.chains
    return chain not in form.chains and (form.last is None or chain <= form.last)


@given(st.sets(CHAINS), st.integers(0, 40), CHAINS)
def test_the_filter_lets_exactly_the_visible_chains_through(allowed: set[int], last: int, chain: int) -> None:
    view = Visible.of(allowed, last_evaluated=last)
    assert lets_through(view, chain) == view.sees(chain)


@given(st.frozensets(CHAINS), st.frozensets(CHAINS), st.integers(0, 40), CHAINS)
def test_any_made_up_view_fails_closed(
    allowed: frozenset[int], forbidden: frozenset[int], last: int, chain: int
) -> None:
    view = Visible(allowed=allowed, forbidden=forbidden, last_evaluated=last)
    if lets_through(view, chain):
        assert chain in allowed
        assert chain not in forbidden
        assert NOBODY < chain <= last


def test_a_chain_that_came_after_the_evaluation_is_not_visible() -> None:
    view = Visible.of(range(1, 10), last_evaluated=10)
    assert view.form().kind is FormKind.EXCEPT
    assert not view.sees(11)
    assert not lets_through(view, 11)


def test_the_shorter_list_is_taken() -> None:
    assert Visible.of({3, 4}, last_evaluated=100).form().chains == (3, 4)
    assert Visible.of(range(1, 100), last_evaluated=100).form().chains == (NOBODY, 100)


def test_gaps_in_the_evaluation_are_not_taken_for_permission() -> None:
    view = Visible(allowed=frozenset({1, 2, 3}), forbidden=frozenset({5}), last_evaluated=5)
    assert view.form().kind is FormKind.ONLY
    assert not lets_through(view, 4)


def test_nobody_is_in_no_view_not_even_everything() -> None:
    everything = Visible(everything=True)
    assert everything.sees(12_345)
    assert lets_through(everything, 12_345)
    assert not everything.sees(NOBODY)
    assert not lets_through(everything, NOBODY)
    assert not Visible.of({NOBODY, PUBLIC}).sees(NOBODY)


def test_the_anonymous_viewer_sees_the_public_chain_alone() -> None:
    assert ANONYMOUS.allowed == {PUBLIC}
    assert ANONYMOUS.form().chains == (PUBLIC,)


def test_only_what_an_open_source_gave_to_anybody_is_public() -> None:
    assert chain_of(access="public", scheme="https", credentials=False) == PUBLIC
    assert chain_of(access="public", scheme="http", credentials=False) == PUBLIC
    assert chain_of(access="public", scheme="https", credentials=True) == NOBODY
    assert chain_of(access="secure", scheme="https", credentials=False) == NOBODY
    assert chain_of(access="public", scheme="file", credentials=False) == NOBODY
    assert chain_of(access="Public ", scheme="https", credentials=False) == NOBODY
