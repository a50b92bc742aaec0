"""Key spaces against an oracle: what templates really render."""

from __future__ import annotations

from hypothesis import given, reject
from hypothesis import strategies as st

from keyfold.design.schema import AttributeSchema
from keyfold.design.template import Template, parse_template
from keyfold.errors import KeyValueRefused
from keyfold.review.keyspace import Range, meet, spaces

LITERALS = ("A", "AB", "A#", "AB#", "A_B#", "B#", "#")
VALUES = ("A", "B", "AB", "A_B", "x")


@st.composite
def templates(draw: st.DrawFn) -> Template:
    """Literals and slots in turn, as parse_template allows them."""
    parts: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        slot = draw(st.booleans())
        if slot and (not parts or not parts[-1].startswith("{")):
            parts.append(f"{{f{number}}}")
        else:
            parts.append(draw(st.sampled_from(LITERALS)))
    return parse_template("".join(parts))


def rendered(template: Template, values: tuple[str, ...]) -> str:
    given = {field: values[n % len(values)] for n, field in enumerate(template.fields)}
    try:
        return template.render(given)
    except KeyValueRefused:
        reject()  # no key is made of these values


some_values = st.tuples(*[st.sampled_from(VALUES)] * 4)


@given(templates(), templates(), some_values, some_values)
def test_templates_that_render_one_key_meet(
    left: Template, right: Template, these: tuple[str, ...], those: tuple[str, ...]
) -> None:
    if rendered(left, these) == rendered(right, those):
        assert any(meet(a, b) for a in spaces(left, {}) for b in spaces(right, {}))


@given(templates(), templates(), some_values, some_values)
def test_a_key_that_begins_with_another_meets_it_opened(
    prefix: Template, whole: Template, these: tuple[str, ...], those: tuple[str, ...]
) -> None:
    if rendered(whole, those).startswith(rendered(prefix, these)):
        (short,), (long,) = spaces(prefix, {}), spaces(whole, {})
        assert meet(short.with_any_end(), long)


@given(templates(), some_values)
def test_every_key_lies_between_the_bounds(template: Template, values: tuple[str, ...]) -> None:
    (space,) = spaces(template, {})
    assert space.least <= rendered(template, values) <= space.greatest


@given(templates(), templates(), some_values, some_values)
def test_a_range_holds_what_lies_in_it(
    bound: Template, whole: Template, these: tuple[str, ...], those: tuple[str, ...]
) -> None:
    (low,), (space,) = spaces(bound, {}), spaces(whole, {})
    if rendered(whole, those) > rendered(bound, these):
        assert Range(low=low.least).holds_some(space)


def meets(left: str, right: str, **attributes: AttributeSchema) -> bool:
    both = [spaces(parse_template(text), attributes) for text in (left, right)]
    return any(meet(a, b) for a in both[0] for b in both[1])


def test_prefixes_that_share_letters_are_split_by_the_delimiter() -> None:
    assert not meets("CRITERIA#{user}", "CRITERIA_COMBINED#{at}")
    assert not meets("ROOM", "ROOM#{room}")
    assert meets("{anything}", "ROOM#{room}")
    assert not meets("USER#{user}", "USER#{user}#{shard}")


def test_a_time_is_not_a_word() -> None:
    at = AttributeSchema("at", "at", "timestamp")
    assert not meets("X#{at}", "X#LATEST", at=at)
    assert meets("X#{name}", "X#LATEST", name=AttributeSchema("name", "name", "string"))


def test_an_enumeration_is_its_values() -> None:
    kind = AttributeSchema("kind", "kind", "string", values=("open", "done"))
    assert not meets("TASK#{kind}", "TASK#late", kind=kind)
    assert meets("TASK#{kind}", "TASK#done", kind=kind)
