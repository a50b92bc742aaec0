"""Every access pattern of Inviter: exactly the requests that it makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_systems.inviter.design import (
    answers_of,
    design,
    group_by_id,
    group_feed,
    group_upcoming,
    groups_of_user,
    hangout_by_id,
    hosted_by,
    members_of_group,
    membership,
    next_of_group,
    responses_to,
    user_by_id,
    user_upcoming,
)
from tests.systems.conftest import Recorder

from .conftest import NOW

Request = tuple[str, dict[str, Any]]
MILLISECONDS = str(int(NOW.timestamp() * 1000))


def item(partition: str, sort: str) -> Request:
    key = {"PK": {"S": partition}, "SK": {"S": sort}}
    return "GetItem", {"TableName": "InviterTable", "Key": key, "ConsistentRead": True}


def query(partition: str, prefix: str, limit: int, *, index: str | None = None) -> Request:
    names = ("gsi1pk", "gsi1sk") if index else ("PK", "SK")
    request = {
        "TableName": "InviterTable",
        "KeyConditionExpression": "#0 = :0 AND begins_with(#1, :1)",
        "ExpressionAttributeNames": {"#0": names[0], "#1": names[1]},
        "ExpressionAttributeValues": {":0": {"S": partition}, ":1": {"S": prefix}},
        "Limit": limit,
    }
    return "Query", {**request, "IndexName": index} if index else request


def by_time(partition: str, limit: int, *, running: bool) -> Request:
    request: dict[str, Any] = {
        "TableName": "InviterTable",
        "IndexName": "EntityTimeIndex",
        "KeyConditionExpression": "#0 = :0 AND #1 >= :1",
        "ExpressionAttributeNames": {"#0": "gsi1pk", "#1": "startTimestamp"},
        "ExpressionAttributeValues": {":0": {"S": partition}, ":1": {"N": MILLISECONDS}},
        "Limit": limit,
    }
    if running:
        request["FilterExpression"] = "#2 > :2"
        request["ExpressionAttributeNames"]["#2"] = "endsAt"
        request["ExpressionAttributeValues"][":2"] = {"S": "2031-08-09T12:00:00.000000Z"}
    return "Query", request


REQUESTS: dict[str, tuple[Callable[[AsyncDb], Awaitable[Any]], list[Request]]] = {
    "user_by_id": (lambda db: user_by_id(db, "u"), [item("USER#u", "METADATA")]),
    "group_by_id": (lambda db: group_by_id(db, "g"), [item("GROUP#g", "METADATA")]),
    "membership": (lambda db: membership(db, "g", "u"), [item("GROUP#g", "USER#u")]),
    "members_of_group": (lambda db: members_of_group(db, "g"), [query("GROUP#g", "USER#", 50)]),
    "groups_of_user": (
        lambda db: groups_of_user(db, "u"),
        [query("USER#u", "GROUP#", 200, index="UserGroupIndex")],
    ),
    "group_feed": (lambda db: group_feed(db, "g"), [query("GROUP#g", "HANGOUT#", 50)]),
    "group_upcoming": (
        lambda db: group_upcoming(db, "g", NOW, NOW),
        [by_time("GROUP#g", 50, running=True)],
    ),
    # One more of each than the page has, so that the merged page knows whether more follow.
    "user_upcoming": (
        lambda db: user_upcoming(db, "u", ["g", "h"], NOW, NOW),
        [by_time(one, 51, running=True) for one in ("GROUP#g", "GROUP#h", "USER#u")],
    ),
    "hangout_by_id": (lambda db: hangout_by_id(db, "h"), [item("EVENT#h", "METADATA")]),
    "responses_to": (lambda db: responses_to(db, "h"), [query("EVENT#h", "RESPONSE#", 50)]),
    "hosted_by": (
        lambda db: hosted_by(db, "u"),
        [query("USER#u", "HOSTED#", 50, index="UserGroupIndex")],
    ),
    "answers_of": (
        lambda db: answers_of(db, "u"),
        [query("USER#u", "RESPONSE#", 50, index="UserGroupIndex")],
    ),
    "next_of_group": (
        lambda db: next_of_group(db, "g", NOW),
        [by_time("GROUP#g", 1, running=False)],
    ),
}


def test_every_pattern_of_the_design_is_here() -> None:
    assert {one.name for one in design.schema.patterns} == set(REQUESTS)


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_pattern_makes_exactly_this_request(
    name: str, db: AsyncDb, client: Recorder
) -> None:
    ask, expected = REQUESTS[name]
    client.requests.clear()
    await ask(db)
    asked = sorted(client.requests, key=lambda one: str(one[1].get("ExpressionAttributeValues")))
    assert asked == expected
