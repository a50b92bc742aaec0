"""Processed markers: one item per record and effect, written with the effect itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyfold.errors import AlreadyProcessed
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Marker
from keyfold.runtime.walk import get_batches
from keyfold.streams import support_table
from keyfold_engine.limits import STREAM_RETENTION_SECONDS

# A record cannot come again once the stream has dropped it.
KEPT_SECONDS: Final = 2 * STREAM_RETENTION_SECONDS


def key(context: Context, event_id: str, effect: str) -> dict[str, Any]:
    return support_table.key(f"DONE#{context.design.name}#{event_id}", effect)


def marker(context: Context, event_id: str, effect: str) -> Marker:
    """A write that is refused if the record already had this effect."""
    expires = int(context.clock.now()) + KEPT_SECONDS
    return Marker(
        support_table.table_of(context.design),
        "Put",
        {
            "Item": {**key(context, event_id, effect), "expires": {"N": str(expires)}},
            "ConditionExpression": "attribute_not_exists(PK)",
        },
        _already_processed,
    )


def _already_processed(_: Mapping[str, Any] | None) -> Exception:
    return AlreadyProcessed("the record was already processed")


def find_marked(context: Context, wanted: list[tuple[str, str]]) -> Flow[set[tuple[str, str]]]:
    """Which of these events and effects have a marker."""
    table = context.physical(support_table.TABLE)
    found = yield from get_batches((table, key(context, *one)) for one in wanted)
    prefix = f"DONE#{context.design.name}#"
    return {(item["PK"]["S"].removeprefix(prefix), item["SK"]["S"]) for _, item in found}
