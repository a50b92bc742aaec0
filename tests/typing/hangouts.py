"""A design as a user would write it; read by mypy and pyright, never run."""

from __future__ import annotations

from typing import Annotated

from keyfold import Design, Entity, Id, Index, Key, On, Pointer, Query, Timestamp, Version, get
from keyfold.design import Get

design = Design("hangouts")
table = design.table("Hangouts", indexes=[Index("ByTime", "gsi1pk", "gsi1sk")])


class Hangout(Entity, table=table):
    hangout_id: Id
    title: str
    starts_at: Timestamp
    notes: str | None = None
    group_ids: set[str] = set()
    version: Annotated[int, Version()] = 0

    key = Key("HANGOUT#{hangout_id}", "HANGOUT")


class GroupHangout(Pointer[Hangout], table=table, each="group_ids"):
    group_id: Id
    hangout_id: Id
    title: str
    starts_at: Timestamp

    key = Key("GROUP#{group_id}", "HANGOUT#{hangout_id}")
    by_time = On("ByTime", "GROUP#{group_id}", "{starts_at:iso}")


@design.pattern(requests=1)
def feed(group_id: str, limit: int = 20) -> Query[GroupHangout]:
    """A group's hangouts by time."""
    return GroupHangout.by_time.query(group_id=group_id).limit(limit)


@design.pattern(requests=1)
def one_hangout(hangout_id: str) -> Get[Hangout]:
    """One hangout."""
    return get(Hangout.key(hangout_id=hangout_id))
