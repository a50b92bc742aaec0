"""A unique value whose markers another program writes too: both guard it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Key, Unique
from keyfold.errors import DeclarationError, KeyValueRefused, UniqueTaken
from keyfold.fields import one_spelling
from keyfold.maintain import repair, verify

design = Design("tenants")
table = design.table("tenants")


class User(Entity, table=table):
    user_id: Id
    tenant_id: Id
    email: str
    name: str = ""
    key = Key("USER#{user_id}", "USER")
    one_email = Unique(
        "tenant_id",
        "email",
        normalise=one_spelling,
        marker=("TENANT#{tenant_id}#EMAIL#{email}", "EMAIL"),
    )


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


KEY = {"PK": {"S": "TENANT#t#EMAIL#ada@example.org"}, "SK": {"S": "EMAIL"}}


def user(number: int, email: str = "Ada@example.org") -> User:
    return User(user_id=str(number), tenant_id="t", email=email)


def mark(db: Db, **attributes: Any) -> None:
    db.client.call("PutItem", {"TableName": "tenants", "Item": KEY | attributes})


def marker(db: Db) -> dict[str, Any] | None:
    found: dict[str, Any] | None = db.client.call(
        "GetItem", {"TableName": "tenants", "Key": KEY}
    ).get("Item")
    return found


def test_the_marker_is_where_the_other_program_looks(db: Db) -> None:
    made = db.create(user(1))
    held = marker(db)
    assert held is not None
    assert held["holder"] == {"M": made.ref().wire()}
    assert db.read(User.one_email(tenant_id="t", email="ADA@example.org")) == made
    db.delete(made)
    assert marker(db) is None


def test_a_value_that_the_other_program_guards_is_taken(db: Db) -> None:
    mark(db, userId={"S": "9"})
    with pytest.raises(UniqueTaken, match="is taken by the item of another"):
        db.create(user(1))
    assert marker(db) == KEY | {"userId": {"S": "9"}}


def test_a_marker_without_a_holder_is_drift_and_repair_keeps_its_attributes(db: Db) -> None:
    made = db.create(user(1))
    mark(db, userId={"S": "1"})
    [drift] = verify(db).drifts
    assert (drift.kind, drift.expected, drift.found) == ("unique", made.ref().wire(), None)
    repair(db, verify(db))
    held = marker(db)
    assert held is not None
    assert (held["userId"], held["holder"]) == ({"S": "1"}, {"M": made.ref().wire()})
    assert not verify(db).drifts


def test_a_marker_of_an_item_that_is_elsewhere_stays(db: Db) -> None:
    mark(db)
    report = verify(db)
    assert report.undeclared == 0
    assert not report.drifts


def test_an_item_releases_its_marker_also_without_a_holder(db: Db) -> None:
    made = db.create(user(1))
    mark(db, userId={"S": "1"})
    db.update(made, email="bea@example.org")
    assert marker(db) is None
    db.create(user(2))


def test_a_value_that_would_be_ambiguous_is_refused(db: Db) -> None:
    with pytest.raises(KeyValueRefused, match="email"):
        db.create(user(1, "a#b@example.org"))


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        (("E#{email}",), "give a template for each"),
        (("E#{email}", "E"), "Use its fields: tenant_id, email"),
        (("T#{tenant_id}#{email}", "{name}"), "Use its fields: tenant_id, email"),
    ],
)
def test_a_marker_that_does_not_guard_the_fields_is_refused(
    marker: tuple[str, ...], says: str
) -> None:
    with pytest.raises(DeclarationError, match=says):

        class Wrong(Entity, table=table):
            wrong_id: Id
            tenant_id: Id
            email: str
            name: str
            key = Key("WRONG#{wrong_id}", "WRONG")
            one_email = Unique("tenant_id", "email", marker=marker)
