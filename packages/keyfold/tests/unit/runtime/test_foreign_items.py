"""Items that other programs wrote: equal to what the declaration reads, in another form."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Index, Key, On, Timestamp, Unique, delete
from keyfold.errors import ConditionFailed

design = Design("foreign")
table = design.table("foreign", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])
AT = datetime(2025, 1, 1, tzinfo=UTC)


class Job(Entity, table=table):
    job_id: Id
    owner_id: Id
    due: Timestamp
    cost: int = 0
    note: str | None = None
    key = Key("JOB#{job_id}", "JOB")
    by_owner = On("GSI1", "OWNER#{owner_id}", "{due:iso}")
    one_note = Unique("note")


STORED: dict[str, Any] = {
    "PK": {"S": "JOB#j"},
    "SK": {"S": "JOB"},
    "type": {"S": "Job"},
    "jobId": {"S": "j"},
    "ownerId": {"S": "ada"},
    "due": {"S": "2025-01-01T01:00:00+01:00"},
    "note": {"NULL": True},
    "GSI1PK": {"S": "OWNER#ada"},
    "GSI1SK": {"S": "2025-01-01T01:00:00+01:00"},
}


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        handle.client.call("PutItem", {"TableName": "foreign", "Item": STORED})
        yield handle


def _stored(db: Db) -> dict[str, Any]:
    request = {"TableName": "foreign", "Key": {"PK": {"S": "JOB#j"}, "SK": {"S": "JOB"}}}
    answer: dict[str, Any] = db.client.call("GetItem", request)
    return dict(answer.get("Item", {}))


def test_an_update_of_an_index_field_meets_another_spelling_of_the_time(db: Db) -> None:
    changed = db.update(Job.key(job_id="j"), owner_id="ben")
    assert (changed.owner_id, changed.due) == ("ben", AT)
    assert _stored(db)["GSI1PK"] == {"S": "OWNER#ben"}
    assert _stored(db)["GSI1SK"] == {"S": "2025-01-01T00:00:00.000000Z"}


def test_an_update_of_an_item_in_hand_meets_it_too(db: Db) -> None:
    job = db.get(Job.key(job_id="j"))
    db.update(job, due=AT + timedelta(days=1), note="n")
    assert db.get(job.ref()).note == "n"


def test_a_delete_of_an_item_in_hand(db: Db) -> None:
    db.delete(db.get(Job.key(job_id="j")))
    assert _stored(db) == {}


def test_a_condition_that_does_not_hold_is_still_refused(db: Db) -> None:
    job = db.get(Job.key(job_id="j"))
    with pytest.raises(ConditionFailed, match="does not hold"):
        db.update(job, owner_id="ben", where=lambda j: j.cost > 3)
    assert _stored(db) == STORED


def test_many_items_in_another_format_are_deleted_in_one_transaction(db: Db) -> None:
    for number in range(20):
        item = STORED | {"PK": {"S": f"JOB#{number}"}, "jobId": {"S": f"{number}"}}
        db.client.call("PutItem", {"TableName": "foreign", "Item": item})
    db.transact(*(delete(Job.key(job_id=f"{number}")) for number in range(20)))
    assert db.get_many([Job.key(job_id=f"{number}") for number in range(20)]) == [None] * 20
