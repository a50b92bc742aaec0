"""Copies and cascades that are found by an index which shows them late."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import Db, Design, Entity, Index, Key, On, Timestamp, Ttl
from keyfold.conditions import missing
from keyfold.maintain import Cascade, Copied, verify
from keyfold.streams import Consumer, ConsumerOptions, Policy
from keyfold.testing import Sandbox

design = Design("clubs")
table = design.table(
    "clubs",
    indexes=[Index("ByUser", "gsi1pk", "gsi1sk")],
    stream="NEW_AND_OLD_IMAGES",
    ttl="expiresAt",
)


class User(Entity, table=table):
    """Somebody."""

    user_id: str
    name: str

    key = Key("USER#{user_id}", "USER")
    memberships = Cascade("Membership", through="by_user")
    passes = Cascade("DayPass", through="by_user", sync="stream")


class Membership(Entity, table=table):
    """Somebody in a club, with their name."""

    club_id: str
    user_id: str
    name: Annotated[str, Copied("User", "name", through="by_user")]

    key = Key("CLUB#{club_id}", "USER#{user_id}")
    by_user = On("ByUser", "USER#{user_id}", "CLUB#{club_id}")


class DayPass(Entity, table=table):
    """Somebody may come in, for a day or as somebody's guest."""

    club_id: str
    user_id: str
    guest_of: str | None = None
    note: str = ""
    day: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl(days=1, after="day")] = None

    key = Key("CLUB#{club_id}", "PASS#{user_id}")
    by_user = On("ByUser", "USER#{user_id}", "PASS#{club_id}", when=lambda p: missing(p.guest_of))


MIA = Membership(club_id="c", user_id="mia", name="Mia")


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(index_lag="held") as opened:
        yield opened


@pytest.fixture
def db(sandbox: Sandbox) -> Db:
    opened = sandbox.open(design)
    opened.create(User(user_id="mia", name="Mia"))
    opened.create(MIA)
    return opened


def follow(db: Db) -> Consumer:
    """A consumer that has met everything there is, and waits for what it does not see."""
    consumer = Consumer(db, options=ConsumerOptions(policy=Policy(patience=1)))
    assert consumer.run_once().unresolved
    return consumer


def test_a_new_value_reaches_a_copy_that_the_index_shows_late(sandbox: Sandbox, db: Db) -> None:
    consumer = follow(db)
    db.update(User.key(user_id="mia"), name="Maria")
    consumer.run_once()
    sandbox.engine.release_indexes()
    consumer.drain()
    assert db.get(MIA.ref()).name == "Maria"
    assert verify(db).clean


def test_an_item_that_the_index_shows_late_goes_with_its_parent(sandbox: Sandbox, db: Db) -> None:
    consumer = follow(db)
    db.delete(User.key(user_id="mia"))
    consumer.run_once()
    assert db.find(MIA.ref()) is not None
    sandbox.engine.release_indexes()
    consumer.drain()
    assert db.find(MIA.ref()) is None
    assert verify(db).clean


def test_an_item_that_is_gone_by_then_is_not_waited_for(db: Db) -> None:
    consumer = follow(db)
    db.delete(MIA.ref())
    consumer.drain()
    assert verify(db).clean


@pytest.mark.parametrize("guest_of", [None, "ben"])
def test_what_no_index_will_ever_show_is_not_waited_for(
    sandbox: Sandbox, db: Db, guest_of: str | None
) -> None:
    """A pass that expired and was not swept yet, and one that the index leaves out."""
    sandbox.engine.release_indexes()
    day = db.context.now() - (timedelta(days=2) if guest_of is None else timedelta())
    db.create(DayPass(club_id="c", user_id="mia", guest_of=guest_of, day=day))
    consumer = Consumer(db, options=ConsumerOptions(policy=Policy(patience=1)))
    if guest_of is None:
        sandbox.engine.release_indexes()
    assert consumer.run_once().unresolved == []


@pytest.mark.parametrize(
    ("changes", "looks"), [({"guest_of": "ben"}, True), ({"note": "x"}, False)]
)
def test_a_change_that_leaves_the_parent_and_its_entry_alone_reads_nothing(
    sandbox: Sandbox, db: Db, changes: dict[str, Any], looks: bool
) -> None:
    db.create(DayPass(club_id="c", user_id="mia", day=db.context.now()))
    sandbox.engine.release_indexes()
    consumer = Consumer(db)
    consumer.drain()
    db.update(DayPass.key(club_id="c", user_id="mia"), **changes)
    sandbox.engine.release_indexes()
    sandbox.requests.clear()
    consumer.drain()
    looked = ("GetItem", "clubs") in {(n, asked.get("TableName")) for n, asked in sandbox.requests}
    assert looked is looks
