"""How wishes become one, and how well they fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from keyfold_systems.search_room.combination import Mode, combine
from keyfold_systems.search_room.fit import fit
from keyfold_systems.search_room.views import NewCriteria
from keyfold_systems.search_room.wishes import Span, Voice, Wishes

ANNA = Voice("anna", {"price": Span(max=2000), "rooms": Span(min=3), "location": ["Bern", "Thun"]})
BEAT = Voice("beat", {"price": Span(max=2600), "location": ["Thun"], "balcony": True})


def test_strict_is_what_everybody_accepts() -> None:
    assert combine([ANNA, BEAT], "strict").wishes == {
        "price": Span(max=2000),
        "rooms": Span(min=3),
        "location": ["Thun"],
        "balcony": True,
    }


def test_all_is_what_somebody_accepts() -> None:
    both = combine([ANNA, BEAT], "all").wishes
    assert both == {"price": Span(max=2600), "location": ["Bern", "Thun"]}


def test_mixed_averages_by_weight() -> None:
    caring = Voice("beat", BEAT.wishes, {"price": 3.0, "location": 3.0})
    both = combine([ANNA, caring], "mixed").wishes
    assert both["price"] == Span(max=2450)
    assert both["location"] == ["Thun"]
    assert both["balcony"] is True


def test_a_must_of_one_among_many_is_not_everybodys_in_the_middle() -> None:
    others = [Voice(name, {"price": Span(max=1)}) for name in "cde"]
    assert "balcony" not in combine([ANNA, BEAT, *others], "mixed").wishes


def test_strict_names_what_suits_nobody() -> None:
    low = Voice("a", {"price": Span(max=1000), "location": ["Bern"], "pets": True})
    high = Voice("b", {"price": Span(min=1500), "location": ["Basel"], "pets": False})
    found = combine([low, high], "strict")
    assert (found.conflicts, found.wishes) == (("location", "pets", "price"), {})


def test_in_the_middle_of_opposites_is_nothing_and_they_are_named() -> None:
    low = Voice("a", {"price": Span(max=1000), "pets": True})
    high = Voice("b", {"price": Span(min=1500), "pets": False})
    found = combine([low, high], "mixed")
    assert (found.conflicts, found.wishes) == (("pets", "price"), {})


def test_what_has_no_weight_for_anybody_is_combined_as_if_all_weighed_the_same() -> None:
    wishes = {"price": Span(max=1000), "location": ["Bern"], "pets": False}
    nothing = dict.fromkeys(wishes, 0.0)
    other = Voice("b", {**wishes, "price": Span(max=2000)}, nothing)
    found = combine([Voice("a", wishes, nothing), other], "mixed")
    assert found.wishes == {**wishes, "price": Span(max=1500)}


@pytest.mark.parametrize("mode", ["all", "mixed", "strict"])
def test_what_is_stated_in_different_ways_cannot_be_combined_and_is_named(mode: Mode) -> None:
    found = combine([Voice("a", {"heating": "gas"}), Voice("b", {"heating": True})], mode)
    assert (found.conflicts, found.wishes) == (("heating",), {})


def test_one_number_and_one_word_combine_with_spans_and_words() -> None:
    one = Voice("a", {"rooms": 3, "location": "Bern"})
    other = Voice("b", {"rooms": Span(min=2, max=4), "location": ["Bern", "Thun"]})
    assert combine([one, other], "strict").wishes == {
        "rooms": Span(min=3, max=3),
        "location": ["Bern"],
    }


def test_a_criterion_weighs_what_it_weighs_to_those_who_state_it() -> None:
    keen = Voice("b", {"balcony": True}, {"balcony": 0.2})
    assert combine([ANNA, keen], "mixed").weights["balcony"] == 0.2


def test_a_minimum_above_its_maximum_is_refused() -> None:
    with pytest.raises(ValidationError, match="price: the minimum 3 is above the maximum 2"):
        NewCriteria(criteria={"price": Span(min=3, max=2)})


def test_a_weight_needs_a_criterion() -> None:
    with pytest.raises(ValidationError, match="you state no criterion 'luck'"):
        NewCriteria(criteria={"price": 3}, weights={"luck": 1})


def test_criteria_take_any_name_and_each_shape() -> None:
    wishes: Wishes = {
        "price": Span(min=1000, max=2500.5),
        "rooms": 3,
        "location": ["Bern", "Köniz"],
        "heating": "heat pump",
        "pets": True,
        "ground floor": False,
    }
    assert NewCriteria.model_validate({"criteria": wishes}).criteria == wishes


def test_equal_wishes_fit_perfectly() -> None:
    found = fit([ANNA, Voice("other", ANNA.wishes)])
    assert found is not None
    assert (found.percent, found.level) == (100, "excellent")


def test_opposite_wishes_do_not_fit() -> None:
    low = Voice("a", {"price": Span(min=1, max=2), "location": ["Bern"], "pets": True})
    high = Voice("b", {"price": Span(min=3, max=4), "location": ["Basel"], "pets": False})
    found = fit([low, high])
    assert found is not None
    assert (found.percent, found.level) == (0, "low")
    assert "least on location (0%)" in found.comment


def test_what_one_leaves_unstated_is_no_agreement() -> None:
    """Who says nothing about rooms, surface or places does not agree in them."""
    one = Voice("a", {"price": Span(max=1000), "rooms": Span(min=4), "location": ["Bern"]})
    other = Voice("b", {"price": Span(min=2000, max=3000), "balcony": True})
    found = fit([one, other])
    assert found is not None
    assert found.percent == 0
    assert found.comment.endswith("Stated by one of you alone: balcony, location, rooms.")


def test_nothing_in_common_has_no_score() -> None:
    assert fit([Voice("a", {"price": 1}), Voice("b", {"rooms": 2}), Voice("c", {})]) is None
    assert fit([ANNA]) is None


def test_lower_ends_compare_where_both_are_open_above() -> None:
    found = fit([Voice("a", {"rooms": Span(min=2)}), Voice("b", {"rooms": Span(min=4)})])
    assert found is not None
    assert found.percent == 50


@pytest.mark.parametrize(
    ("span", "percent"),
    [
        (Span(max=2500), 100),
        (Span(min=2000), 100),
        (Span(min=2000, max=2000), 100),
        (2000, 100),
        (Span(max=1999), 0),
        (Span(min=2001), 0),
        (2001, 0),
    ],
)
def test_a_number_that_suits_the_other_is_agreement(span: Span | int, percent: int) -> None:
    voices = [Voice("a", {"price": 2000}), Voice("b", {"price": span})]
    for found in (fit(voices), fit(voices[::-1])):
        assert found is not None
        assert found.percent == percent


def test_blanks_around_what_is_typed_are_not_meant() -> None:
    said = NewCriteria(criteria={" heating ": " wood", "location": ["Bern ", " Thun"]})
    assert said.criteria == {"heating": "wood", "location": ["Bern", "Thun"]}
    blanks: list[dict[str, Any]] = [{" ": True}, {"heating": "  "}, {"location": ["Bern", " "]}]
    for nothing in blanks:
        with pytest.raises(ValidationError):
            NewCriteria(criteria=nothing)


_BOUND = st.none() | st.integers(0, 50)


@st.composite
def _voices(draw: st.DrawFn) -> Voice:
    low, high = draw(_BOUND), draw(_BOUND)
    if low is not None and high is not None and low > high:
        low, high = high, low
    words = st.lists(st.sampled_from(["a", "b", "c"]), unique=True)
    wishes = {"price": Span(min=low, max=high), "location": draw(words)}
    wishes |= dict.fromkeys(draw(words), draw(st.booleans()))
    return Voice(draw(st.uuids()).hex, wishes, {"price": draw(st.floats(0, 1))})


@given(st.lists(_voices(), min_size=1, max_size=5), st.sampled_from(["all", "mixed", "strict"]))
def test_order_does_not_matter(voices: list[Voice], mode: Mode) -> None:
    one, other = combine(voices, mode), combine(voices[::-1], mode)
    assert one.wishes.get("location") == other.wishes.get("location")
    assert one.conflicts == other.conflicts
    forth, back = fit(voices), fit(voices[::-1])
    assert (forth and forth.percent) == (back and back.percent)
    assert forth is None or 0 <= forth.percent <= 100


@given(st.lists(_voices(), min_size=1, max_size=5))
def test_whatever_strict_accepts_everybody_accepts(voices: list[Voice]) -> None:
    found = combine(voices, "strict")
    if "price" in found.conflicts:
        return
    for price in range(51):
        accepted = _accepts(found.wishes, price)
        assert accepted == all(_accepts(voice.wishes, price) for voice in voices)


def _accepts(wishes: Mapping[str, Any], price: int) -> bool:
    span = wishes.get("price", Span())
    assert isinstance(span, Span)
    return (span.min is None or price >= span.min) and (span.max is None or price <= span.max)
