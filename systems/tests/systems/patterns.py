"""Access patterns row by row: the exact requests that each makes, and what it answers.

A table of rows, tested on every backend (`everywhere` in conftest):

    ROWS: dict[str, Row[World]] = {
        "group_by_id": Row(
            lambda db: group_by_id(db, "g"),
            [get_item("InviterTable", "GROUP#g", "METADATA")],
            lambda world: world.group,
        ),
    }

    @pytest.mark.parametrize("name", ROWS)
    async def test_a_pattern(name: str, world: World, db: AsyncDb, client: Recorder) -> None:
        await ROWS[name].check(world, db, client)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tests.systems.conftest import Recorder

from keyfold import AsyncDb, Page
from keyfold.design.item_collection import Collected

World = TypeVar("World")
Request = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Row(Generic[World]):
    """One access pattern: how it is asked, its requests, its answer out of what was stored."""

    ask: Callable[[AsyncDb], Awaitable[Any]]
    requests: Sequence[Request]
    answer: Callable[[World], Any]

    async def check(self, world: World, db: AsyncDb, client: Recorder) -> None:
        client.requests.clear()
        found = await self.ask(db)
        asked = client.requests.copy()
        wanted = _in_any_order(self.requests)
        assert [
            _without_more(one, page) for one, page in zip(_in_any_order(asked), wanted, strict=True)
        ] == wanted
        assert (found.items if isinstance(found, Page | Collected) else found) == self.answer(world)


def get_item(table: str, partition: str, sort: str) -> Request:
    key = {"PK": {"S": partition}, "SK": {"S": sort}}
    return "GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}


def query(
    table: str,
    condition: str,
    names: Sequence[str],
    values: Sequence[Mapping[str, Any]],
    **more: Any,
) -> Request:
    """A Query with the names #0, #1, … and the values :0, :1, …; `more` is as on the wire."""
    request = {
        "TableName": table,
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": {f"#{n}": name for n, name in enumerate(names)},
        "ExpressionAttributeValues": {f":{n}": value for n, value in enumerate(values)},
        **more,
    }
    return "Query", request


def _without_more(asked: Request, page: Request) -> Request:
    """A filtered request asks for more than its page; how much is the runtime's matter."""
    operation, request = asked
    size = page[1].get("Limit")
    if "FilterExpression" not in request or size is None:
        return asked
    assert request["Limit"] >= size
    return operation, {**request, "Limit": size}


def _in_any_order(requests: Iterable[Request]) -> list[Request]:
    """Queries that are started together have no order."""
    return sorted(requests, key=lambda one: str(one[1].get("ExpressionAttributeValues")))
