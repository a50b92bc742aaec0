"""A write to both sides: the request itself, and its equivalent on the old side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from keyfold.errors import KeyfoldError, TransactionCanceled
from keyfold.migrations.backend import Item
from keyfold.migrations.follower import wait_for_copies
from keyfold.migrations.moves import Output
from keyfold.migrations.routed_migration import RoutedMigration, item_at
from keyfold.migrations.state import key_text
from keyfold.migrations.wire_equality import equal
from keyfold.migrations.write_conditions import absent, difference, unchanged
from keyfold.migrations.write_request import (
    Images,
    actions_of,
    answer_of,
    item_after,
    refusal_of,
    tables_of,
)
from keyfold.runtime.flow import Answer, Call, Flow

_REFUSED: Final = "ConditionalCheckFailed"


class OutOfStep(Exception):
    """The sides differ at this moment: a change is in flight."""

    pause = 0.05


class Raced(OutOfStep):
    """Another writer changed the same item."""

    pause = 0.005


Address: TypeAlias = tuple[str, str]
"""A table and a key."""
Places: TypeAlias = dict[Address, tuple[Output, Item]]
"""Items of the old side with their keys."""


@dataclass
class Meaning:
    """What the items of a request map to on the old side: one place may have two, before and
    after.
    """

    places: Places = field(default_factory=dict)
    shown: dict[Address, Item | None] = field(default_factory=dict)
    """The items themselves by place, without their consequences."""


class DoubleWrite:
    """One request of an application, and its equivalent on the old side, in one transaction.

    `returning` means that writes are about to go back: then the new side is right where they
    differ, and copiers in both directions are told.
    """

    def __init__(
        self,
        routed: RoutedMigration,
        operation: str,
        request: Mapping[str, Any],
        *,
        returning: bool = False,
    ) -> None:
        self.routed, self.operation, self.request = routed, operation, request
        self.returning = returning
        self.actions = actions_of(operation, request)
        self.images: list[Images] = []
        self.own: dict[Address, int] = {}
        """The request's own actions, by the item that they write."""
        self.keys: dict[Address, Item] = {}
        self.moved: dict[Address, None] = {}
        """Items of the new side that mean something on the old one."""
        self.was, self.becomes = Meaning(), Meaning()

    def run(self) -> Flow[Answer]:
        for number in range(len(self.actions)):
            yield from self._look(number)
        more = yield from self._old_side()
        parts = [{kind: one} for kind, one in self.actions]
        try:
            yield Call("TransactWriteItems", {"TransactItems": [*parts, *more]})
        except TransactionCanceled as cancelled:
            own, others = cancelled.reasons[: len(parts)], cancelled.reasons[len(parts) :]
            if any(reason.code == _REFUSED for reason in own):
                raise refusal_of(self.operation, own) from None
            if not any(reason.code not in ("None", _REFUSED) for reason in (*own, *others)):
                raise Raced(", ".join(sorted(set(tables_of(self.request))))) from None
            raise
        return answer_of(self.operation, self.request, self.images)

    def _look(self, number: int) -> Flow[None]:
        """An item before and after an action; adds what each maps to on the old side."""
        routed, (kind, one) = self.routed, self.actions[number]
        name = one["TableName"]
        if name not in routed.tables:
            self.images.append((None, None))
            return
        table = routed.table(name)
        key = yield from routed.key_of(table, one["Item"] if "Item" in one else one["Key"])
        before = yield from item_at(name, key)
        if before is None and kind == "Delete" and not self.returning:
            clock = routed.routing.clock
            yield from wait_for_copies(routed.migration.name, routed.prefix, clock)
            before = yield from item_at(name, key)
        after = item_after((kind, one), before, key)
        self.images.append((before, after))
        address = (table, key_text(key))
        self.own[address], self.keys[address] = number, key
        if before is None and kind == "Update":
            try:
                routed.meaning(table, after)
            except KeyfoldError:
                # Its condition refuses it; without one, it would create an item of no entity.
                return
        for meaning, item in ((self.was, before), (self.becomes, after)):
            for outputs in routed.meaning(table, item).values():
                addressed = yield from self._find_places(outputs)
                meaning.places |= addressed
                meaning.shown |= dict.fromkeys(list(addressed)[:1], item)
                self.moved[address] = None

    def _old_side(self) -> Flow[list[Item]]:
        """The writes that update the old side accordingly."""
        routed, was, becomes = self.routed, self.was, self.becomes
        actions: list[Item] = []
        for address, (output, key) in {**was.places, **becomes.places}.items():
            there = yield from item_at(routed.physical(output.table), key)
            touch = yield from routed.touch("new", output.table, key)
            if not self.returning and not self._is_in_step(address, there):
                raise OutOfStep(f"{output.table} {address[1]}")
            new = becomes.places.get(address)
            if address in self.own:
                continue  # it is of both sides, and the request itself writes it
            wanted = new[0].settle_on(there) if new is not None else None
            physical = routed.physical(output.table)
            if (change := _change(physical, key, there, wanted)) is not None:
                actions += [change, touch]
        for table, text in self.moved if self.returning else ():
            actions.append((yield from routed.touch("old", table, self.keys[table, text])))
        return actions

    def _is_in_step(self, address: Address, there: Item | None) -> bool:
        before = self.was.shown.get(address)
        if before is not None:
            return self.routed.stands_for(self.was.places[address][0], there, before)
        made = address in self.becomes.shown and address not in self.was.places
        return not made or there is None

    def _find_places(self, outputs: list[Output]) -> Flow[Places]:
        found: Places = {}
        for output in outputs:
            key = yield from self.routed.key_of(output.table, output.item)
            found[output.table, key_text(key)] = (output, key)
        return found


def _change(name: str, key: Item, there: Item | None, wanted: Item | None) -> Item | None:
    """The write that turns an item into another, if it is unchanged."""
    if wanted is None:
        return (
            None
            if there is None
            else {"Delete": {"TableName": name, "Key": key, **unchanged(there, key)}}
        )
    if there is None:
        return {"Put": {"TableName": name, "Item": wanted, **absent(key)}}
    if equal(there, wanted):
        return None
    return {"Update": {"TableName": name, "Key": key, **difference(there, wanted, key)}}
