"""Work that does not depend on the machine: SQL statements, bytes decoded, requests, units.

A number that grows here is a regression, however fast the machine is. Lower it when you can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import apsw
import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupMembership,
    Hangout,
    Response,
    User,
)
from keyfold_systems.inviter.patterns import group_feed, user_upcoming

TABLE: dict[str, Any] = {
    "TableName": "work",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "G")
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
}
INDEXED = {
    **TABLE,
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_group",
            "KeySchema": [{"AttributeName": "G", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}
PLAIN = {**TABLE, "AttributeDefinitions": TABLE["AttributeDefinitions"][:2]}


class Statements:
    """Counts the SQL statements of every connection that is opened."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def watch(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: self.seen.append(event["sql"]))

    def during(self, work: Callable[[], object]) -> int:
        work()
        self.seen.clear()
        work()
        return len(self.seen)


@pytest.fixture
def statements() -> Iterator[Statements]:
    watched = Statements()
    apsw.connection_hooks.append(watched.watch)
    yield watched
    apsw.connection_hooks.remove(watched.watch)


def item(number: int) -> dict[str, Any]:
    return {
        "PK": {"S": "p"},
        "SK": {"S": f"{number:04d}"},
        "G": {"S": "g"},
        "text": {"S": f"x{number}"},
    }


def filled(definition: dict[str, Any]) -> Engine:
    engine = Engine.open(":memory:")
    engine.call("CreateTable", definition)
    for number in range(60):
        engine.call("PutItem", {"TableName": "work", "Item": item(number)})
    return engine


KEY = {"PK": {"S": "p"}, "SK": {"S": "0001"}}
UPDATE = {
    "TableName": "work",
    "Key": KEY,
    "UpdateExpression": "SET #t = :t",
    "ExpressionAttributeNames": {"#t": "text"},
    "ExpressionAttributeValues": {":t": {"S": "y"}},
}
QUERY = {
    "TableName": "work",
    "KeyConditionExpression": "PK = :p",
    "ExpressionAttributeValues": {":p": {"S": "p"}},
    "Limit": 50,
}
BY_GROUP = {
    "TableName": "work",
    "IndexName": "by_group",
    "KeyConditionExpression": "G = :g",
    "ExpressionAttributeValues": {":g": {"S": "g"}},
    "Limit": 50,
}
KEYS = [{"PK": {"S": "p"}, "SK": {"S": f"{number:04d}"}} for number in range(25)]
GETS = [{"Get": {"TableName": "work", "Key": key}} for key in KEYS]
PUTS = [{"PutRequest": {"Item": item(number)}} for number in range(25)]
FOUR = {"TransactItems": [{"Put": {"TableName": "work", "Item": item(n)}} for n in range(4)]}


@pytest.mark.parametrize(
    ("definition", "operation", "request_", "most"),
    [
        (PLAIN, "GetItem", {"TableName": "work", "Key": KEY}, 1),
        (PLAIN, "PutItem", {"TableName": "work", "Item": item(1)}, 3),
        (INDEXED, "PutItem", {"TableName": "work", "Item": item(1)}, 4),
        (PLAIN, "UpdateItem", UPDATE, 4),
        (PLAIN, "DeleteItem", {"TableName": "work", "Key": {**KEY, "SK": {"S": "none"}}}, 4),
        (PLAIN, "Query", QUERY, 1),
        (PLAIN, "TransactWriteItems", FOUR, 6),
        (INDEXED, "Query", BY_GROUP, 1),
        (PLAIN, "Scan", {"TableName": "work"}, 1),
        (PLAIN, "BatchGetItem", {"RequestItems": {"work": {"Keys": KEYS}}}, 25),
        (PLAIN, "TransactGetItems", {"TransactItems": GETS}, 25),
        (PLAIN, "BatchWriteItem", {"RequestItems": {"work": PUTS}}, 27),
        (PLAIN, "ExecuteStatement", {"Statement": "SELECT * FROM \"work\" WHERE PK = 'p'"}, 1),
    ],
)
def test_sql_statements_of_an_operation(
    statements: Statements,
    definition: dict[str, Any],
    operation: str,
    request_: dict[str, Any],
    most: int,
) -> None:
    engine = filled(definition)
    assert statements.during(lambda: engine.call(operation, request_)) <= most


def test_a_plain_read_decodes_no_item(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = filled(PLAIN)
    decoded: list[int] = []
    loads = orjson.loads

    def counted(data: Any) -> Any:
        decoded.append(len(data))
        return loads(data)

    monkeypatch.setattr(orjson, "loads", counted)
    body = orjson.dumps(QUERY)
    answer = engine.call_bytes("Query", body)
    assert len(answer) > 2000
    # The request, and the last item of a page that ends at its limit, for its key.
    assert sum(decoded) <= len(body) + len(orjson.dumps(item(49)))


NOW = datetime(2025, 1, 1, tzinfo=UTC)


def test_requests_and_units_of_a_systems_operations() -> None:
    db = design.open(":memory:")
    db.create(User(user_id="u", name="U"))
    db.create(Group(group_id="g", name="G"))
    counted = {}

    def measure(name: str, work: Callable[[], object]) -> None:
        with db.work(name) as done:
            work()
        total = done.total
        counted[name] = (total.requests, total.read_units, total.write_units)

    member = GroupMembership(group_id="g", user_id="u", group_name="G", user_name="U")
    measure("join", lambda: db.create(member))
    hangout = Hangout(
        hangout_id="h",
        host_id="u",
        title="T",
        start_timestamp=NOW,
        associated_groups=["g"],
        invited_users=["u"],
    )
    measure("create", lambda: db.create(hangout))
    response = Response(hangout_id="h", user_id="u", answer=Answer.GOING)
    measure("respond", lambda: db.create(response))
    measure("feed", lambda: group_feed(db, "g"))
    measure("upcoming", lambda: user_upcoming(db, "u", ["g"], NOW))
    measure("rename", lambda: db.update(hangout.ref(), title="New"))
    assert counted == EXPECTED


EXPECTED = {
    "join": (1, 0.0, 2.0),
    "create": (1, 0.0, 8.0),
    "respond": (1, 0.0, 1.0),
    "feed": (1, 0.5, 0.0),
    "upcoming": (2, 1.0, 0.0),
    "rename": (2, 1.0, 8.0),
}
