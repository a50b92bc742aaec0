"""Looking an item up by a unique value: its marker, then the item, both consistently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Key, Query, Unique
from keyfold.errors import DeclarationError, MissingKeyField

design = Design("lookup")
table = design.table("main")


class User(Entity, table=table):
    user_id: Id
    email: str | None = None
    country: str = "no"
    number: str = ""
    key = Key("USER#{user_id}", "USER")
    one_email = Unique("email", normalise=str.casefold)
    one_number = Unique("country", "number")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(User(user_id="a", email="Ann@x.org", number="1"))
        opened.create(User(user_id="b", email="bob@x.org", number="2"))
        yield opened


def test_the_holder_of_a_value_is_found_in_two_requests_without_an_index(db: Db) -> None:
    with db.work("lookup") as work:
        found = db.read(User.one_email(email="ANN@x.org"))
    assert found is not None
    assert found.user_id == "a"
    assert sum(one.requests for one in work.usage.values()) == 2


def test_a_value_of_several_fields(db: Db) -> None:
    found = db.read(User.one_number(country="no", number="2"))
    assert found is not None
    assert found.user_id == "b"


def test_a_value_that_nobody_has_any_more_finds_nothing(db: Db) -> None:
    db.update(User.key(user_id="a"), email="new@x.org")
    assert db.read(User.one_email(email="ann@x.org")) is None
    db.delete(User.key(user_id="b"))
    assert db.read(User.one_email(email="bob@x.org")) is None
    moved = db.read(User.one_email(email="new@x.org"))
    assert moved is not None
    assert moved.user_id == "a"


class HandedOver:
    """A client before whose read of an item the value goes to another."""

    def __init__(self, client: Any, change: Any) -> None:
        self.client, self.change, self.reads = client, change, 0

    def call(self, operation: str, request: Any) -> Any:
        if operation == "GetItem":
            self.reads += 1
            if self.reads == 2:
                self.change()
        return self.client.call(operation, request)


def test_a_value_handed_over_between_the_two_reads_finds_its_new_holder(db: Db) -> None:
    def hand_over() -> None:
        db.update(User.key(user_id="a"), email="gone@x.org")
        db.update(User.key(user_id="b"), email="ann@x.org")

    watched = Db(db.context, HandedOver(db.client, hand_over))  # type: ignore[arg-type]
    found = watched.read(User.one_email(email="ann@x.org"))
    assert found is not None
    assert found.user_id == "b"


def test_all_fields_of_the_value_are_needed() -> None:
    with pytest.raises(MissingKeyField, match="one_number needs country, number"):
        User.one_number(number="1")


def test_a_lookup_is_no_access_pattern() -> None:
    with pytest.raises(DeclarationError, match="cannot be an access pattern"):

        @Design("other").pattern()
        def by_email(email: str) -> Query[User]:
            return User.one_email(email=email)  # type: ignore[return-value]


async def test_the_same_when_awaited() -> None:
    async with await design.open_async(":memory:") as db:
        made = await db.create(User(user_id="a", email="a@x"))
        assert await db.read(User.one_email(email="A@X")) == made
