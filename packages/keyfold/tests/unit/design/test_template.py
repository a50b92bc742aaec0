"""Key templates: what they render, refuse and recognise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold.design.template import parse_template
from keyfold.errors import DeclarationError, KeyValueRefused, MissingKeyField


def test_a_template_renders_literals_and_fields() -> None:
    template = parse_template("CRITERIA#{user_id}#{at:iso}")
    at = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
    assert template.render({"user_id": "u1", "at": at}) == "CRITERIA#u1#2025-03-01T12:00:00.000000Z"


def test_a_missing_field_is_named() -> None:
    with pytest.raises(MissingKeyField, match="needs user_id"):
        parse_template("USER#{user_id}").render({})


def test_a_value_with_the_delimiter_is_refused() -> None:
    with pytest.raises(KeyValueRefused, match="delimiter"):
        parse_template("USER#{user_id}").render({"user_id": "a#b"})


def test_a_bare_field_may_hold_the_delimiter() -> None:
    assert parse_template("{account_id}").render({"account_id": "ACCOUNT#1"}) == "ACCOUNT#1"


def test_an_escaped_value_comes_back_as_it_was() -> None:
    template = parse_template("TAG#{tag}#{n:03d}", escape=True)
    key = template.render({"tag": "a#b%23", "n": 7})
    assert key == "TAG#a%23b%2523#007"
    assert template.parse(key) == {"tag": "a#b%23", "n": "007"}


def test_two_fields_with_nothing_between_are_refused() -> None:
    with pytest.raises(DeclarationError, match="K6"):
        parse_template("{a}{b}")


def test_an_unmatched_brace_is_refused() -> None:
    with pytest.raises(DeclarationError, match="unmatched brace"):
        parse_template("USER#{user_id")


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(DeclarationError, match="epoch_ms"):
        parse_template("T#{at:rfc}")


def test_a_number_that_does_not_fit_its_width_is_refused() -> None:
    with pytest.raises(KeyValueRefused, match="3 digits"):
        parse_template("N#{n:03d}").render({"n": 1000})


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(KeyValueRefused, match="time zone"):
        parse_template("T#{at:iso}").render({"at": datetime(2025, 1, 1)})


@given(st.integers(0, 10**12 - 1), st.integers(0, 10**12 - 1))
def test_padded_numbers_sort_as_numbers(left: int, right: int) -> None:
    template = parse_template("N#{n:012d}")
    keys = template.render({"n": left}), template.render({"n": right})
    assert (keys[0] < keys[1]) == (left < right)


_TIMES = st.datetimes(
    min_value=datetime(1971, 1, 1),
    max_value=datetime(2200, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)


@given(_TIMES, _TIMES, st.sampled_from(["iso", "iso_ms", "iso_s", "epoch", "epoch_ms"]))
def test_times_never_sort_against_their_order(left: datetime, right: datetime, name: str) -> None:
    template = parse_template(f"T#{{at:{name}}}")
    keys = template.render({"at": left}), template.render({"at": right})
    if left < right:
        assert keys[0] <= keys[1]
    assert len(keys[0]) == len(keys[1])


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_two_different_pairs_never_render_one_key(a: str, b: str, c: str, d: str) -> None:
    template = parse_template("A#{x}#{y}", escape=True)
    try:
        keys = template.render({"x": a, "y": b}), template.render({"x": c, "y": d})
    except KeyValueRefused:
        return
    assert (keys[0] == keys[1]) == ((a, b) == (c, d))
