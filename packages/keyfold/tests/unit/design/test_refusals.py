"""What cannot work is refused where it is said."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold import Design, Entity, Id, Key, collection, each, get, merge
from keyfold.errors import DeclarationError, PlanError

design = Design("refusals")
table = design.table("refusals")


class Event(Entity, table=table):
    event_id: Id
    part: Id
    key = Key("EVENT#{event_id}", "{part}")


def ids(*names: str) -> Any:
    return each(list(names))


@pytest.mark.parametrize(
    "read",
    [
        lambda ids: get(Event.key(event_id=each(ids), part="p")),
        lambda ids: Event.key.query(event_id=each(ids)),
        lambda ids: Event.key.query(event_id=each(ids)).first(),
        lambda ids: Event.key.query(event_id=each(ids)).count(),
        lambda ids: collection(Event, event_id=each(ids)),
        lambda ids: merge(Event.key.query(event_id=each(ids), part=each(ids))),
    ],
)
def test_each_is_refused_where_it_cannot_work(read: Any) -> None:
    with pytest.raises(DeclarationError, match="each"):
        design.pattern(name="spread")(read)


def test_each_is_refused_in_an_address_and_a_read_of_the_moment() -> None:
    with pytest.raises(PlanError, match="use get_many"):
        Event.key(event_id=ids("a"), part="p").wire()
    with design.open(":memory:") as db, pytest.raises(PlanError, match=r"merge\(\.\.\.\)"):
        db.read(Event.key.query(event_id=ids("a", "b")))
