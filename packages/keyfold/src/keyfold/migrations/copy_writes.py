"""The writes of a copy: items of the other side, their undo records, and the marker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import orjson

from keyfold.errors import (
    MigrationError,
    TransactionCanceled,
    TransactionConflict,
    ValidationError,
)
from keyfold.migrations.backend import Item
from keyfold.migrations.changes import ItemChange
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.in_place import InPlace
from keyfold.migrations.migration import Side
from keyfold.migrations.moves import Output
from keyfold.migrations.ownership import Ownership, address_text
from keyfold.migrations.state import CopyMarker, key_text
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.undo import UndoRecord
from keyfold.migrations.wire_equality import equal, same
from keyfold.migrations.write_conditions import ABSENT, PRESENT, absent, unchanged
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import PASSING, get_batches, transact

REFUSED: Final = "ConditionalCheckFailed"

Outdated: TypeAlias = tuple[Output, Item]
"""Items that nothing maps to now, as stored."""


class CopyWrites:
    """The parts of transactions that copy towards one side."""

    def __init__(
        self, store: StateStore, direction: Direction, towards: Side, back: Direction
    ) -> None:
        self.backend, self.store, self.direction, self.towards = (
            store.backend,
            store,
            direction,
            towards,
        )
        self.back = back
        self.ownership = Ownership(direction, back, self.items_at)
        self._contested: set[tuple[str, str]] = set()
        """Markers of unique values whose holders nothing maps to now."""

    def items_at(self, addresses: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Item]:
        """The items at these addresses, in batches."""
        wanted = list(dict.fromkeys(addresses))
        tables = {self.backend.physical(table): table for table, _ in wanted}
        keys = [(self.backend.physical(table), orjson.loads(text)) for table, text in wanted]
        found = run_by(self.backend.call, get_batches(keys))
        return {
            (tables[name], key_text(self.direction.key_of(tables[name], item))): item
            for name, item in found
        }

    def outdated_by(
        self, record: ItemChange, after: Mapping[tuple[str, str], Output]
    ) -> dict[tuple[str, str], Outdated]:
        """What the item used to map to and no longer does.

        If another item is stored there by now, it maps to it: changes of two items arrive in any
        order.
        """
        found: dict[tuple[str, str], Outdated] = {}
        for image in (record.old, record.new):
            try:
                outputs = self.direction.outputs(record.table, image)
            except Uncopyable:
                continue  # What could not be copied left nothing on the other side.
            for address in outputs.keys() - after.keys() - found.keys():
                output = outputs[address]
                there = self.backend.item(
                    output.table, self.direction.key_of(output.table, output.item)
                )
                if there is not None and output.stands(there):
                    found[address] = (output, there)
        return found

    def actions(
        self,
        left: Mapping[tuple[str, str], Outdated],
        after: Mapping[tuple[str, str], Output],
        source: tuple[str, str],
        item: Item | None,
        *,
        scanned: bool = False,
    ) -> list[Item]:
        """Puts first, in the order of `after`, then deletes of what is outdated, for an item as it
        was read.
        """
        actions: list[Item] = []
        for address, output in after.items():
            actions += (
                self._put_with_undo(output, address, source, scanned)
                if self.direction.stays(output.table)
                else [self._put(output, new=scanned)]
            )
        actions += [self.delete(output.table, there) for output, there in left.values()]
        return [*actions, *self._guard(source, item)] if actions else []

    def _guard(self, source: tuple[str, str], item: Item | None) -> list[Item]:
        """The condition that an item is as it was read, where applications write what it maps to.

        Otherwise a late copy would stay if they have just deleted both. Until `verify` they do not.
        """
        table, text = source
        routes = [
            route for route in self.direction.routes if route.guards and route.source == table
        ]
        if self.direction.early or not routes:
            return []
        key = orjson.loads(text)
        condition = absent(key)
        if item is not None:
            # This migration may have rewritten it since.
            kept = InPlace(self.direction, table).apply(item) or {}
            condition = unchanged({n: w for n, w in item.items() if same(w, kept.get(n))}, key)
        check = {"TableName": self.backend.physical(table), "Key": key, **condition}
        return [{"ConditionCheck": check}]

    def is_race(self, codes: Sequence[str], actions: Sequence[Item]) -> bool:
        """Whether only another writer of this migration was faster."""
        refused = [a for c, a in zip(codes, actions, strict=False) if c == REFUSED]
        if any("ConditionCheck" in action for action in refused):
            return True  # What is copied is not what it was: a value may have gone with it.
        return bool(refused) and all(
            a.get("Put", {}).get("TableName") == self.store.table
            or _is_guarded(a)
            or self._is_contestable(a)
            for a in refused
        )

    def _is_contestable(self, action: Item) -> bool:
        """Whether a unique value is held by an item's former version, or is free."""
        request = action.get("Put")
        if request is None:
            return False
        tables = {
            self.backend.physical(route.target): route.target for route in self.direction.routes
        }
        table = tables.get(request["TableName"])
        if table is None:
            return False
        key = self.direction.key_of(table, request["Item"])
        there = self.backend.item(table, key)
        if there is not None and not self.ownership.is_left_behind(there, table):
            return False
        self._contested.add((table, key_text(key)))
        return True

    def _claim(self, output: Output, key: Item) -> Mapping[str, object]:
        """The condition that no other item holds a value; a former holder's is taken over."""
        if (output.table, key_text(key)) in self._contested:
            there = self.backend.item(output.table, key)
            if there is not None and self.ownership.is_left_behind(there, output.table):
                return unchanged(there, key)
        return output.claim

    def _put_with_undo(
        self, output: Output, address: tuple[str, str], source: tuple[str, str], scanned: bool
    ) -> list[Item]:
        """A put into a table that stays, with its undo record."""
        log, own = self.direction.log, address == source
        assert log is not None
        key = self.direction.key_of(output.table, output.item)
        record = log.find(output.table, key)
        if record is not None and record.kind == "made":
            return [self._put(output)]
        there = self.backend.item(output.table, key)
        item = output.settle_on(there)
        if there is None:
            made = UndoRecord("made", output.table, key, revision=_after(record))
            return [self._put(output), *log.writes(made)]
        if equal(there, item):
            if record is None and scanned and not own:
                log.note(UndoRecord("found", output.table, key))
            return []
        if output.moved and not own:
            self._refuse_taken(address, there, record, source)
            made = UndoRecord("made", output.table, key, revision=_after(record))
            return [self._put(output), *log.writes(made)]
        if output.claim:
            return [self._put(output)]
        known = record or UndoRecord("changed", output.table, key, revision=-1)
        changed = known.with_change(there, item)
        changed.kind = "changed"
        return [self._put(output), *log.writes(changed)]

    def _refuse_taken(
        self,
        address: tuple[str, str],
        there: Item,
        record: UndoRecord | None,
        source: tuple[str, str],
    ) -> None:
        """Refuse to overwrite an item that existed before, or that another item maps to.

        Anything else was written by an application that follows, or is left over.
        """
        owner = self.ownership.owner(address, there)
        if owner is not None and owner != source:
            raise Uncopyable(
                f"{address_text(address)} is taken by {address_text(owner)}: the two would be one"
            )
        if record is not None or not self.back.concerns(address[0], there):
            raise Uncopyable(f"{address_text(address)} is taken by another item")

    def _put(self, output: Output, *, new: bool = False) -> Item:
        """A put; of a new item only if nothing is stored there."""
        name = self.backend.physical(output.table)
        key = self.direction.key_of(output.table, output.item)
        item, there = output.item, None
        if output.onto is not None:
            there = self.backend.item(output.table, key)
            item = output.onto(there)
        condition = absent(key) if new and not output.claim else self._claim(output, key)
        if output.kept and there is not None and not new:
            condition = unchanged({n: w for n, w in there.items() if n in output.kept}, key)
        return {"Put": {"TableName": name, "Item": item, **condition}}

    def delete(self, table: str, there: Item) -> Item:
        """Delete an item if it is unchanged."""
        name, key = self.backend.physical(table), self.direction.key_of(table, there)
        return {"Delete": {"TableName": name, "Key": key, **unchanged(there, key)}}

    def marker_update(self, record: ItemChange, touched: CopyMarker | None = None) -> Item:
        """Note a change as copied, unless a newer one is; `touched` is the marker of an item that
        applications write on both sides.
        """
        expression, expected = "SET #s = :s", "attribute_not_exists(touches)"
        values: Item = {":s": {"S": record.order}}
        if touched is not None:
            expected, values[":t"] = "touches = :t", {"N": str(touched.touches)}
            if touched.followed < touched.touches:
                expression, values[":one"] = f"{expression} ADD followed :one", {"N": "1"}
        return {
            "Update": {
                "TableName": self.store.table,
                "Key": self.store.marker_key(self.towards, record.table, record.key),
                "UpdateExpression": expression,
                "ConditionExpression": f"(attribute_not_exists(#s) OR #s < :s) AND {expected}",
                "ExpressionAttributeNames": {"#s": "sequence"},
                "ExpressionAttributeValues": values,
            }
        }

    def marker_check(self, table: str, key: Item, expected: CopyMarker | None) -> Item:
        check: Item = {
            "TableName": self.store.table,
            "Key": self.store.marker_key(self.towards, table, key),
            "ConditionExpression": "attribute_not_exists(#s)",
            "ExpressionAttributeNames": {"#s": "sequence"},
        }
        expected = expected or CopyMarker()
        values: Item = {}
        if expected.sequence is not None:
            check["ConditionExpression"] = "#s = :s"
            values[":s"] = {"S": expected.sequence}
        if expected.touches:
            check["ConditionExpression"] += " AND touches = :t"
            values[":t"] = {"N": str(expected.touches)}
        else:
            check["ConditionExpression"] += " AND attribute_not_exists(touches)"
        if values:
            check["ExpressionAttributeValues"] = values
        return {"ConditionCheck": check}

    def transact(self, actions: list[Item]) -> list[str] | None:
        """None if everything was written; otherwise the reason for each part. Conflicts are
        retried.
        """
        request: Item = {"TransactItems": actions}
        try:
            run_by(self.backend.call, transact("TransactWriteItems", request))
        except TransactionCanceled as cancelled:
            codes = [reason.code for reason in cancelled.reasons]
            return [code if code not in PASSING else "None" for code in codes]
        except ValidationError as problem:
            raise Uncopyable(f"the backend refuses it: {problem}") from problem
        except TransactionConflict as conflict:
            raise MigrationError(
                "the backend kept rejecting a transaction with a conflict"
            ) from conflict
        return None


def _is_guarded(action: Item) -> bool:
    """Whether it was refused only because the stored item changed since planning."""
    condition = action.get("Put", {}).get("ConditionExpression", "")
    return "Delete" in action or condition == ABSENT or condition.startswith(PRESENT)


def _after(record: UndoRecord | None) -> int:
    return 0 if record is None else record.revision + 1


def refusal(codes: Sequence[str], actions: Sequence[Item]) -> str:
    for code, action in zip(codes, actions, strict=False):
        if code == REFUSED and "Put" in action:
            request = action["Put"]
            held = next(iter(next(iter(request["Item"].values())).values()))
            return f"the value {held} in {request['TableName']} is held by another item"
    refused = next((code for code in codes if code != "None"), "unknown")
    return f"the backend refused the copy: {refused}"
