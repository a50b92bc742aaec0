"""A design file with any mistake: file, line, column and what was due; never a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.design.file import DesignFileError, loads
from keyfold.review.check import check

DESIGNS = Path(__file__).parents[1] / "review" / "designs"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(DESIGNS.glob("*.yaml"))]
PLACE = re.compile(r"d\.yaml:\d+(:\d+)?: .")
WORDS = [
    "{",
    "[",
    "]",
    ": ",
    "- ",
    "null",
    "3",
    "true",
    "<",
    ">",
    "{}",
    "'",
    "#",
    "&a ",
    "*a",
    "!x ",
]


def is_read_or_refused(text: str) -> None:
    refused = ""
    try:
        schema = loads(text, file="d.yaml")
    except DesignFileError as error:
        refused = str(error)
    else:
        assert check(schema).crashes == ()
    assert not refused or PLACE.match(refused), refused


def with_a_mistake(data: st.DataObject, texts: list[str]) -> str:
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    return text[:start] + data.draw(st.sampled_from(["", *WORDS])) + text[end:]


def with_a_line_missing_or_twice(data: st.DataObject, texts: list[str]) -> str:
    lines = data.draw(st.sampled_from(texts)).splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    times = data.draw(st.sampled_from([0, 2]))
    return "".join([*lines[:at], *[lines[at]] * times, *lines[at + 1 :]])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_mistake_anywhere_is_refused_with_its_place(data: st.DataObject) -> None:
    is_read_or_refused(with_a_mistake(data, TEXTS))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_lines_that_are_missing_or_twice_are_refused_with_their_place(data: st.DataObject) -> None:
    is_read_or_refused(with_a_line_missing_or_twice(data, TEXTS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("entities:\n  A:\n    on_purpose: {shared kye: x}\n", "d.yaml:4:18: on_purpose cannot be"),
        ("entities:\n  A:\n    on_purpose: {scan: ''}\n", "needs a reason for 'scan'"),
        ("patterns:\n  p: {query: A, retruns: [B]}\n", "d.yaml:3:17: a pattern has no field"),
        ("operations:\n  o: {does: [create A gaurded]}\n", "d.yaml:3:14: 'create A gaurded' is"),
        ("stated: [6]\n", "d.yaml:2:9: expected figures by what they are about, found a list"),
        (
            "entities:\n  A:\n    attributes: {'': string}\n",
            "d.yaml:4:18: expected an attribute, found empty",
        ),
        ("patterns:\n  '': {query: A}\n", "d.yaml:3:3: expected a name, found empty text"),
    ],
)
def test_new_words_are_refused_where_they_are_wrong(text: str, expected: str) -> None:
    with pytest.raises(DesignFileError) as error:
        loads(f"design: d\n{text}", file="d.yaml")
    assert expected in str(error.value)


def test_a_wrong_template_in_a_key_condition_is_refused_with_its_place() -> None:
    text = """design: d
tables: {T: {key: [PK, SK]}}
entities: {Order: {table: T, key: {PK: "C#{customer}", SK: "O#{order}"}}}
patterns: {orders: {query: Order, where: "PK = C#{ {customer}, SK begins_with O#"}}
"""
    with pytest.raises(DesignFileError, match=r"d.yaml:4:.*unmatched brace"):
        loads(text, file="d.yaml")


def laughs(levels: int) -> str:
    """A text of a few lines whose aliases stand for ten to the power of `levels` values."""
    lines = ["a0: &a0 x"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"design: x\n{laughs(9)}\n", r"d\.yaml:\d+:\d+: its aliases repeat more than"),
        ("design: x\ntables: &a\n  t: *a\n", "d.yaml:2:9: this contains itself"),
        (f"design: x\ntables: {'[' * 150}{']' * 150}\n", "this is nested too deeply"),
    ],
)
def test_a_small_text_cannot_stand_for_an_endless_one(text: str, expected: str) -> None:
    with pytest.raises(DesignFileError, match=expected):
        loads(text, file="d.yaml")


def test_aliases_that_repeat_a_little_are_read() -> None:
    text = "design: x\nentities:\n  A: &a {attributes: {id: id}}\n  B: *a\n"
    assert [entity.name for entity in loads(text).entities] == ["A", "B"]
