"""A migration's changes to tables that stay, so that a rollback restores them exactly.

One record per item created, found or changed there, in the same transaction. A changed attribute
has its old value and the digest of the new one: what the application has written since is not
touched.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from keyfold.errors import ConditionFailed
from keyfold.migrations.backend import Item
from keyfold.migrations.state import SUPPORT, key_text, part_text, spread
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.wire_equality import digest, same

_CHUNK: Final = 300_000

Kind = Literal["made", "found", "changed", "removed"]


@dataclass
class UndoRecord:
    """What was done to one item."""

    kind: Kind
    table: str
    key: Item
    before: dict[str, Any] = field(default_factory=dict)
    """Old values by attribute; None if it was missing."""
    after: dict[str, str | None] = field(default_factory=dict)
    """Digests of the new values; None if it was removed."""
    revision: int = 0

    def with_change(
        self,
        before: Item,
        after: Item,
        adds: frozenset[str] = frozenset(),
        computed: frozenset[str] = frozenset(),
        left: frozenset[str] = frozenset(),
    ) -> UndoRecord:
        """The same with another change of the item; before, there were no `adds` attributes.

        Of those that are `computed` on the way back, only what they became is noted. Those of
        `left` stay as they are, both ways.
        """
        was, became = dict(self.before), dict(self.after)
        for name in before.keys() | after.keys() | left:
            if name in left or not same(before.get(name), after.get(name)):
                if name not in became or became[name] != _digest(before.get(name)):
                    # Otherwise it was this migration's own value.
                    was[name] = None if name in adds - left else before.get(name)
                if name in computed:
                    was.pop(name, None)
                became[name] = _digest(after.get(name))
        return UndoRecord(self.kind, self.table, self.key, was, became, self.revision + 1)

    def wrote(self, name: str, value: Any) -> bool:
        """Whether an attribute's value is the one this migration wrote."""
        return name in self.after and _digest(value) == self.after[name]

    def is_of(self, before: Item, after: Item) -> bool:
        """Whether a change of the item is the recorded one."""
        changed = [n for n in before.keys() | after.keys() if not same(before.get(n), after.get(n))]
        return all(
            name in self.after and _digest(after.get(name)) == self.after[name] for name in changed
        )

    def restore(self, item: Item, undone: Callable[[Item], Item]) -> Item:
        """The item as it was; what was written since is passed through `undone`."""
        known = {n: b for n, b in self.before.items() if _digest(item.get(n)) == self.after.get(n)}
        known |= {n: b for n, b in self.before.items() if same(item.get(n), b)}
        # Undoing must neither read what this migration made, nor change what it restores.
        return _with(undone(_with(item, known)), known)


class UndoLog:
    """The undo records of one migration."""

    def __init__(self, store: StateStore) -> None:
        self.store = store

    def find(self, table: str, key: Mapping[str, Any]) -> UndoRecord | None:
        chunks: list[bytes] = []
        item: Item | None = None
        for number in range(1 << 16):
            found = self.store.backend.item(SUPPORT.name, self._key(table, key, number))
            if found is None:
                break
            item = item or found
            chunks.append(base64.b64decode(found["body"]["B"]))
            if len(chunks) == int(item["chunks"]["N"]):
                break
        return None if item is None else _read(item, b"".join(chunks))

    def writes(self, record: UndoRecord) -> list[Item]:
        """The parts of a transaction that store a record; refused if another writer did."""
        body = zlib.compress(
            orjson.dumps({"kind": record.kind, "before": record.before, "after": record.after})
        )
        # Two that create the same item store the same record.
        condition: Item = (
            {}
            if record.kind == "made"
            else {
                "ConditionExpression": "attribute_not_exists(revision) OR revision = :before",
                "ExpressionAttributeValues": {":before": {"N": str(record.revision - 1)}},
            }
        )
        chunks = [body[n : n + _CHUNK] for n in range(0, len(body), _CHUNK)]
        return [
            {
                "Put": {
                    "TableName": self.store.table,
                    "Item": {
                        **self._key(record.table, record.key, number),
                        "table": {"S": record.table},
                        "key": {"M": record.key},
                        "kind": {"S": record.kind},
                        "chunks": {"N": str(len(chunks))},
                        "revision": {"N": str(record.revision)},
                        "body": {"B": base64.b64encode(chunk).decode()},
                    },
                    **condition,
                }
            }
            for number, chunk in enumerate(chunks)
        ]

    def note(self, record: UndoRecord) -> None:
        """Store a record separately, if the item is not changed with it."""
        for write in self.writes(record):
            try:
                self.store.backend.call("PutItem", write["Put"])
            except ConditionFailed:
                return  # It is already stored.

    def records(self) -> Iterator[UndoRecord]:
        for item in list(self._first_chunks()):
            found = self.find(item["table"]["S"], item["key"]["M"])
            if found is not None:
                yield found

    def natives(self) -> set[tuple[str, str]]:
        """The items on the new side before the migration began."""
        return {
            (item["table"]["S"], key_text(item["key"]["M"]))
            for item in self._first_chunks()
            if item["kind"]["S"] == "found"
        }

    def _first_chunks(self) -> Iterator[Item]:
        for item in self.store.spread_items("undo:"):
            if item["part"]["S"].startswith("0:"):
                yield item

    def _key(self, table: str, key: Mapping[str, Any], chunk: int) -> Item:
        text = f"{table}:{key_text(key)}"
        bucket = spread(text)
        return {
            "migration": {"S": f"{self.store.name}:undo:{bucket}"},
            "part": {"S": part_text(f"{chunk}:", text)},
        }


def _with(item: Item, values: Mapping[str, Any]) -> Item:
    """An item with these attributes, or without those that are None."""
    given = {name: wire for name, wire in values.items() if wire is not None}
    return {name: wire for name, wire in item.items() if name not in values} | given


def _digest(value: Any) -> str | None:
    return None if value is None else digest(value)


def _read(item: Item, body: bytes) -> UndoRecord:
    told = orjson.loads(zlib.decompress(body))
    return UndoRecord(
        told["kind"],
        item["table"]["S"],
        item["key"]["M"],
        told["before"],
        told["after"],
        int(item["revision"]["N"]),
    )
