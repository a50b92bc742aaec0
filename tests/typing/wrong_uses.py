"""What type checkers refuse: every ignore here is needed, or the check fails."""

from __future__ import annotations

from datetime import UTC, datetime

from keyfold import AsyncDb, Db
from tests.typing.hangouts import GroupHangout, Hangout, feed

NOON = datetime(2027, 5, 1, 12, tzinfo=UTC)


def wrong_argument_of_a_pattern(db: Db) -> None:
    feed(db, 7)  # type: ignore[call-overload]


def unknown_argument_of_a_pattern(db: Db) -> None:
    feed(db, group="oslo")  # type: ignore[call-overload]


def missing_handle() -> None:
    feed("oslo")  # type: ignore[call-overload]


def wrong_value_of_a_field() -> None:
    Hangout(hangout_id="h1", title=3, starts_at=NOON)  # type: ignore[arg-type]


def missing_field() -> None:
    Hangout(hangout_id="h1", title="Hike")  # type: ignore[call-arg]


def field_of_the_canonical_on_its_pointer(db: Db) -> None:
    _ = feed(db, "oslo")[0].notes  # type: ignore[attr-defined]


def misspelt_field_in_a_condition(hangout: Hangout, db: Db) -> None:
    db.update(hangout, title="Hike", where=lambda one: one.titel == "x")  # type: ignore[attr-defined]


def misspelt_field_in_a_filter() -> None:
    GroupHangout.by_time.query(group_id="oslo").where(lambda one: one.titel == "x")  # type: ignore[attr-defined]


def forgotten_await(db: AsyncDb) -> None:
    _ = feed(db, "oslo").items  # type: ignore[attr-defined]
