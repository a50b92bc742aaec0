"""Turns: work that any worker could do, done by one of them at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keyfold.errors import ConditionFailed
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.streams import support_table
from keyfold.streams.lease import Renewals


@dataclass(frozen=True)
class Turns:
    """One worker's turns; each lasts a number of seconds unless released or renewed."""

    context: Context
    worker: str
    seconds: float
    renewals: Renewals

    def take(self, what: str) -> Flow[float | None]:
        """Until when this worker has the turn; None while another worker has it."""
        now = self.context.clock.now()
        try:
            return (yield from self._take(what, now, "#until < :now", now))
        except ConditionFailed as failed:
            held = (failed.item or {}).get("until", {}).get("N", "")
            if not self.renewals.ended(f"turn {what}", held, self.seconds):
                return None
        try:
            return (yield from self._take(what, now, "#until = :now", float(held)))
        except ConditionFailed:
            return None

    def _take(self, what: str, now: float, condition: str, compared: float) -> Flow[float]:
        until = now + self.seconds
        request: dict[str, Any] = {
            "TableName": self.context.physical(support_table.TABLE),
            "Key": self._key(what),
            "UpdateExpression": "SET #owner = :me, #until = :until, #expires = :expires",
            "ConditionExpression": f"attribute_not_exists(#until) OR {condition} OR #owner = :me",
            "ExpressionAttributeNames": {
                "#owner": "owner",
                "#until": "until",
                "#expires": "expires",
            },
            "ExpressionAttributeValues": {
                ":me": {"S": self.worker},
                ":now": {"N": repr(compared)},
                ":until": {"N": repr(until)},
                ":expires": {"N": str(int(until) + 3600)},
            },
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        yield Call("UpdateItem", request)
        return until

    def give_back(self, what: str) -> Flow[None]:
        """Release the turn for others."""
        try:
            yield Call(
                "DeleteItem",
                {
                    "TableName": self.context.physical(support_table.TABLE),
                    "Key": self._key(what),
                    "ConditionExpression": "#owner = :me",
                    "ExpressionAttributeNames": {"#owner": "owner"},
                    "ExpressionAttributeValues": {":me": {"S": self.worker}},
                },
            )
        except ConditionFailed:
            return

    def _key(self, what: str) -> dict[str, Any]:
        return support_table.key(f"TURN#{self.context.design.name}", what)
