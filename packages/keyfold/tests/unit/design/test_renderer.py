"""Generated key renderers give what the templates give, or leave it to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold import Design, Entity, Id, Key
from keyfold.errors import KeyValueRefused, MissingKeyField

design = Design("rendered")
table = design.table("Rendered")


class Member(Entity, table=table):
    room: Id
    user: Id
    key = Key("ROOM#{room}", "MEMBER#{user}#{room}")


class Score(Entity, table=table):
    room: Id
    points: int
    key = Key("SCORES#{room}", "{points:06d}")


class Ecke(Entity, table=table):
    room: Id
    key = Key("RÄUME#{room}", "ECKE")


def slowly(entity: type[Entity], values: dict[str, Any]) -> Any:
    key = entity.__spec__.key
    return {a.attribute: a.render(values, owner=entity.__name__) for a in key.attributes}


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=5), st.integers(), st.none(), st.just("x" * 2030)), st.text())
def test_a_key_is_what_its_templates_give(room: Any, user: str) -> None:
    values = {"room": room, "user": user}
    wanted = outcome(lambda: slowly(Member, values))
    assert outcome(lambda: Member.__spec__.key_of(values)) == wanted


def outcome(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except (KeyValueRefused, MissingKeyField) as refused:
        return type(refused), str(refused)


def test_keys_of_other_forms_are_left_to_their_templates() -> None:
    generated = {entity: entity.__spec__.key.render.__name__ for entity in (Member, Score, Ecke)}
    assert generated == {Member: "render", Score: "_render", Ecke: "_render"}
    assert Score.__spec__.key_of({"room": "r", "points": 7}) == {
        "PK": {"S": "SCORES#r"},
        "SK": {"S": "000007"},
    }
