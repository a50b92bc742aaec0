"""Processed markers: one item for each record and effect, written with the effect itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyfold.errors import AlreadyProcessed
from keyfold.limits import BATCH_GET_ITEMS, STREAM_RETENTION_SECONDS
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.intent import Marker
from keyfold.streams import support

# A record cannot come again once the stream has dropped it.
KEPT_SECONDS: Final = 2 * STREAM_RETENTION_SECONDS


def key(context: Context, event_id: str, effect: str) -> dict[str, Any]:
    return support.key(f"DONE#{context.design.name}#{event_id}", effect)


def marker(context: Context, event_id: str, effect: str) -> Marker:
    """Refused when the record had this effect before."""
    expires = int(context.clock.now()) + KEPT_SECONDS
    return Marker(
        support.table_of(context.design),
        "Put",
        {
            "Item": {**key(context, event_id, effect), "expires": {"N": str(expires)}},
            "ConditionExpression": "attribute_not_exists(PK)",
        },
        _repeated,
    )


def _repeated(_: Mapping[str, Any] | None) -> Exception:
    return AlreadyProcessed("the record had its effect before")


def marked(context: Context, wanted: list[tuple[str, str]]) -> Flow[set[tuple[str, str]]]:
    """Which of these events and effects have their marker."""
    table = context.physical(support.TABLE)
    done: set[tuple[str, str]] = set()
    for start in range(0, len(wanted), BATCH_GET_ITEMS):
        keys = [key(context, *one) for one in wanted[start : start + BATCH_GET_ITEMS]]
        while keys:
            request = {"RequestItems": {table: {"Keys": keys, "ConsistentRead": True}}}
            answer = yield Call("BatchGetItem", request)
            for item in answer["Responses"].get(table, ()):
                event_id = item["PK"]["S"].removeprefix(f"DONE#{context.design.name}#")
                done.add((event_id, item["SK"]["S"]))
            keys = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
    return done
