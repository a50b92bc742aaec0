"""How wishes become one, and how well they fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from keyfold_systems.search_room.wishes import Mode, Voice, Wishes, combine, fit

ANNA = Voice("anna", Wishes(price_max=2000, rooms_min=3, locations={"Bern", "Thun"}), {})
BEAT = Voice("beat", Wishes(price_max=2600, locations={"Thun"}, features={"balcony"}), {})


def test_strict_is_what_everybody_accepts() -> None:
    both = combine([ANNA, BEAT], "strict").wishes
    assert (both.price_max, both.rooms_min) == (2000, 3)
    assert (both.locations, both.features) == ({"Thun"}, {"balcony"})


def test_all_is_what_somebody_accepts() -> None:
    both = combine([ANNA, BEAT], "all").wishes
    assert (both.price_max, both.rooms_min) == (2600, None)
    assert (both.locations, both.features) == ({"Bern", "Thun"}, set())


def test_mixed_averages_by_weight() -> None:
    caring = Voice("beat", BEAT.wishes, {"price": 3.0, "locations": 3.0})
    both = combine([ANNA, caring], "mixed").wishes
    assert both.price_max == 2450
    assert both.locations == {"Thun"}
    assert both.features == {"balcony"}


def test_strict_names_what_suits_nobody() -> None:
    low = Voice("a", Wishes(price_max=1000, locations={"Bern"}), {})
    high = Voice("b", Wishes(price_min=1500, locations={"Basel"}), {})
    found = combine([low, high], "strict")
    assert found.conflicts == ("price", "locations")
    assert found.wishes.price_min is None


def test_a_minimum_above_its_maximum_is_refused() -> None:
    with pytest.raises(ValidationError, match="price: the minimum 3 is above the maximum 2"):
        Wishes(price_min=3, price_max=2)


def test_equal_wishes_fit_perfectly() -> None:
    found = fit([ANNA, Voice("other", ANNA.wishes, {})])
    assert (found.percent, found.level) == (100, "excellent")


def test_opposite_wishes_do_not_fit() -> None:
    low = Voice("a", Wishes(price_min=1, price_max=2, locations={"Bern"}, features={"x"}), {})
    high = Voice("b", Wishes(price_min=3, price_max=4, locations={"Basel"}, features={"y"}), {})
    found = fit([low, high])
    assert found.percent == 40
    assert "least on price (0%)" in found.comment


_BOUND = st.none() | st.integers(0, 50)


@st.composite
def _voices(draw: st.DrawFn) -> Voice:
    low, high = draw(_BOUND), draw(_BOUND)
    if low is not None and high is not None and low > high:
        low, high = high, low
    words = st.sets(st.sampled_from(["a", "b", "c"]))
    wishes = Wishes(price_min=low, price_max=high, locations=draw(words), features=draw(words))
    return Voice(draw(st.uuids()).hex, wishes, {"price": draw(st.floats(0, 1))})


@given(st.lists(_voices(), min_size=1, max_size=5), st.sampled_from(["all", "mixed", "strict"]))
def test_order_does_not_matter(voices: list[Voice], mode: Mode) -> None:
    assert combine(voices, mode).wishes.locations == combine(voices[::-1], mode).wishes.locations
    assert fit(voices).percent == fit(voices[::-1]).percent
    assert 0 <= fit(voices).percent <= 100


@given(st.lists(_voices(), min_size=1, max_size=5))
def test_whatever_strict_accepts_everybody_accepts(voices: list[Voice]) -> None:
    found = combine(voices, "strict")
    if "price" in found.conflicts:
        return
    for price in range(51):
        low, high = found.wishes.range("price")
        accepted = (low is None or price >= low) and (high is None or price <= high)
        everybody = all(
            (v.wishes.price_min is None or price >= v.wishes.price_min)
            and (v.wishes.price_max is None or price <= v.wishes.price_max)
            for v in voices
        )
        assert accepted == everybody
