"""A table of before the shared suspensions: its audit trail and its reports."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold import Db
from keyfold_engine.clients import connect
from keyfold.errors import Undecodable
from keyfold.maintain import verify
from keyfold.migrations import Backend, Migrator, backend_of
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.migration import oversight
from keyfold_systems.tamafriends.oversight import AuditEntry
from keyfold_systems.tamafriends.patterns import audit_of_month, reports_about, reports_by
from tests.systems.conftest import ADDRESS

from .conftest import START

TABLE = "tamafriends"
AT = "2031-01-01T00:00:00.000000Z"
ENTRY = {
    "PK": "AUDIT#2031-01",
    "SK": f"AT#{AT}#e1",
    "type": "AuditEntry",
    "month": "2031-01",
    "entryId": "e1",
    "at": AT,
    "actorId": "noor",
    "action": "remove",
    "kind": "post",
    "targetId": "p1",
    "reason": "Advertising",
    "excerpt": "Buy this",
}
SINCE = AuditEntry(entry_id="e2", at=START, by="mod", action="dismiss", subject="user omar")
REPORT = {
    "PK": "REPORTS",
    "SK": "REPORT#post#p2#lena",
    "GSI2PK": "USER#lena",
    "GSI2SK": f"REPORT#{AT}#p2",
    "type": "Report",
    "kind": "post",
    "targetId": "p2",
    "userId": "lena",
    "authorId": "yuki",
    "reason": "spam",
    "text": "",
    "excerpt": "",
    "createdAt": AT,
}


def stored(backend: Backend) -> list[dict[str, Any]]:
    items = backend.call("Scan", {"TableName": TABLE})["Items"]
    return sorted(items, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))


@pytest.fixture
def backend() -> Backend:
    opened = backend_of(connect(ADDRESS or ":memory:"))
    for name in opened.call("ListTables", {})["TableNames"]:
        opened.call("DeleteTable", {"TableName": name})
    db = design.open(opened.client)
    for name in ("lena", "yuki"):
        person = {"user_id": name, "username": name, "handle": name, "display_name": name}
        db.create(UserProfile.model_validate({**person, "email": f"{name}@example.com"}))
    db.create(SINCE)
    for one in (ENTRY, REPORT):
        item = {name: {"S": value} for name, value in one.items()}
        opened.call("PutItem", {"TableName": TABLE, "Item": item})
    return opened


@pytest.fixture
def db(backend: Backend) -> Db:
    return design.open(backend.client, create_tables=False)


def test_the_trail_and_the_reports_of_before_are_read_as_those_of_now(
    backend: Backend, db: Db
) -> None:
    with pytest.raises(Undecodable):
        audit_of_month(db, START)
    Migrator(oversight, backend, without_routers=True).apply("contract")
    assert audit_of_month(db, START).items == [
        SINCE,
        AuditEntry(
            entry_id="e1",
            at=START,
            by="noor",
            action="remove",
            subject="post p1",
            note="Advertising",
            excerpt="Buy this",
        ),
    ]
    first, second, *_ = stored(backend)
    assert first.keys() == second.keys()
    assert reports_about(db, "yuki").items == reports_by(db, "lena").items
    assert verify(db).drifts == []


def test_the_way_back_leaves_them_as_they_were(backend: Backend) -> None:
    before = stored(backend)
    migrator = Migrator(oversight, backend, without_routers=True)
    migrator.apply("hold")
    assert stored(backend) != before
    migrator.rollback()
    assert stored(backend) == before
