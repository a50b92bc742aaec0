"""Arguments of access patterns are bound as Python binds those of functions."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold import Design, Entity, Id, Key, Query

design = Design("binding")
table = design.table("Things")


class Thing(Entity, table=table):
    owner: Id
    thing_id: Id

    key = Key("OWNER#{owner}", "THING#{thing_id}")


@design.pattern()
def things(owner: int, limit: int = 50, *, extra: int | None = None) -> Query[Thing]:
    """Things of an owner."""
    return Thing.key.query(owner=owner).since(thing_id=extra).limit(limit)


names = st.sampled_from(["owner", "limit", "extra", "unknown"])


@given(
    st.lists(st.integers(), max_size=4),
    st.dictionaries(names, st.integers(), max_size=4),
)
def test_arguments_are_bound_or_refused_as_by_the_signature(
    by_place: list[int], by_name: dict[str, int]
) -> None:
    call: Any = things.arguments

    def outcome(bind: Any) -> object:
        try:
            return dict(bind(*by_place, **by_name))
        except TypeError as refused:
            return str(refused).removeprefix("things: ").partition(";")[0]

    def by_signature(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = inspect.signature(things.function).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    assert outcome(call) == outcome(by_signature)


def test_a_refusal_names_the_pattern_and_what_it_takes() -> None:
    with pytest.raises(TypeError, match=r"things: .*'limt'; it takes \(db, owner, limit, extra\)"):
        things.arguments(1, limt=3)  # type: ignore[call-arg]
