"""A client that records what is written through it, so that it can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.undo import UndoLog, UndoRecord
from keyfold.migrations.write_request import WRITES, actions_of


class NotingClient:
    """Records each written item, before and after."""

    def __init__(self, backend: Backend, log: UndoLog, tables: Mapping[str, str]) -> None:
        self.backend, self.log = backend, log
        self.tables = tables
        """What tables are called here, with their names in the design."""
        self._keys: dict[str, tuple[str, ...]] = {}

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        written = [
            (self.tables[name], key)
            for name, key in self._writes_of(operation, request)
            if name in self.tables
        ]
        before = [self.backend.item(table, key) for table, key in written]
        for (table, key), item in zip(written, before, strict=True):
            if item is None and self.log.find(table, key) is None:
                self.log.note(UndoRecord("made", table, key))
        answer = self.backend.client.call(operation, request)
        for (table, key), item in zip(written, before, strict=True):
            if item is not None:
                self._note(table, key, item, self.backend.item(table, key))
        return answer

    def close(self) -> None:
        """Leaves the client open for its owner."""

    def _note(self, table: str, key: Item, before: Item, after: Item | None) -> None:
        record = self.log.find(table, key)
        if record is not None and record.kind == "made":
            return
        revision = -1 if record is None else record.revision
        if after is None:
            self.log.note(UndoRecord("removed", table, key, before, revision=revision + 1))
        else:
            known = record or UndoRecord("changed", table, key, revision=-1)
            noted = known.with_change(before, after)
            if noted.before != known.before or noted.after != known.after:
                self.log.note(noted)

    def _writes_of(self, operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, Item]]:
        actions = actions_of(operation, request) if operation in WRITES else ()
        return (self._address(one) for kind, one in actions if kind != "ConditionCheck")

    def _address(self, one: Mapping[str, Any]) -> tuple[str, Item]:
        name = one["TableName"]
        if "Key" in one:
            return name, dict(one["Key"])
        if name not in self._keys:
            table = self.tables.get(name, name)
            self._keys[name] = self.backend.key_attributes(table)
        return name, {attribute: one["Item"][attribute] for attribute in self._keys[name]}
