"""What a migration changed in tables that stay, so that going back restores them exactly.

One record for each item that it made, found or changed there, in the transaction that did it.
A changed attribute has its value from before, and the digest of what it became: what the
application has written since is not touched.
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
from keyfold.migrations.spelling import digest, same
from keyfold.migrations.state import MARKER_PARTITIONS, StateStore, key_text, part_text, spread

_CHUNK: Final = 300_000

Kind = Literal["made", "found", "changed", "removed"]


@dataclass
class UndoRecord:
    """What was done to one item."""

    kind: Kind
    table: str
    key: Item
    before: dict[str, Any] = field(default_factory=dict)
    """Values from before, by attribute; None where there was none."""
    after: dict[str, str | None] = field(default_factory=dict)
    """Digests of what they became; None where they were taken away."""
    revision: int = 0

    def noting(self, before: Item, after: Item, adds: frozenset[str] = frozenset()) -> UndoRecord:
        """The same with another change of the item; before, there were no `adds` attributes."""
        was, became = dict(self.before), dict(self.after)
        for name in before.keys() | after.keys():
            if not same(before.get(name), after.get(name)):
                if name not in became or became[name] != _digest(before.get(name)):
                    # Else it was this migration's own value.
                    was[name] = None if name in adds else before.get(name)
                became[name] = _digest(after.get(name))
        return UndoRecord(self.kind, self.table, self.key, was, became, self.revision + 1)

    def wrote(self, name: str, value: Any) -> bool:
        """Whether an attribute's value is what this migration made of it."""
        return name in self.after and _digest(value) == self.after[name]

    def is_of(self, before: Item, after: Item) -> bool:
        """Whether a change of the item is the one that is noted here."""
        changed = [n for n in before.keys() | after.keys() if not same(before.get(n), after.get(n))]
        return all(
            name in self.after and _digest(after.get(name)) == self.after[name] for name in changed
        )

    def restored(
        self, item: Item, undone: Callable[[Item], Item], late: Callable[[Item], Item]
    ) -> Item:
        """The item as it was; what was written since is passed through `undone`, or, where all
        that is noted stands as it was left, through `late`."""
        known = {n: b for n, b in self.before.items() if _digest(item.get(n)) == self.after.get(n)}
        known |= {n: b for n, b in self.before.items() if same(item.get(n), b)}
        result = dict((late if known.keys() == self.before.keys() else undone)(item))
        for name, before in known.items():
            result.pop(name, None)
            if before is not None:
                result[name] = before
        return result


class UndoLog:
    """The records of one migration."""

    def __init__(self, store: StateStore) -> None:
        self.store = store

    def find(self, table: str, key: Mapping[str, Any]) -> UndoRecord | None:
        chunks: list[bytes] = []
        item: Item | None = None
        for number in range(1 << 16):
            found = self._get(self._key(table, key, number))
            if found is None:
                break
            item = item or found
            chunks.append(base64.b64decode(found["body"]["B"]))
            if len(chunks) == int(item["chunks"]["N"]):
                break
        return None if item is None else _read(item, b"".join(chunks))

    def writes(self, record: UndoRecord) -> list[Item]:
        """The parts of a transaction that keep a record; another writer's record refuses it."""
        body = zlib.compress(
            orjson.dumps({"kind": record.kind, "before": record.before, "after": record.after})
        )
        # Two that make the same item note the same.
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
        """Keep a record by itself, where the item is not changed with it."""
        for write in self.writes(record):
            try:
                self.store.backend.call("PutItem", write["Put"])
            except ConditionFailed:
                return  # it is noted already

    def records(self) -> Iterator[UndoRecord]:
        for bucket in range(MARKER_PARTITIONS):
            for item in self.store.all_of(f"{self.store.name}:undo:{bucket}", ""):
                if item["part"]["S"].startswith("0:"):
                    found = self.find(item["table"]["S"], item["key"]["M"])
                    if found is not None:
                        yield found

    def natives(self) -> set[tuple[str, str]]:
        """The items that were on the new side before the migration began."""
        found = set()
        for bucket in range(MARKER_PARTITIONS):
            for item in self.store.all_of(f"{self.store.name}:undo:{bucket}", "0:"):
                if item["kind"]["S"] == "found":
                    found.add((item["table"]["S"], key_text(item["key"]["M"])))
        return found

    def _key(self, table: str, key: Mapping[str, Any], chunk: int) -> Item:
        text = f"{table}:{key_text(key)}"
        bucket = spread(text)
        return {
            "migration": {"S": f"{self.store.name}:undo:{bucket}"},
            "part": {"S": part_text(f"{chunk}:", text)},
        }

    def _get(self, key: Item) -> Item | None:
        request = {"TableName": self.store.table, "Key": key, "ConsistentRead": True}
        found: Item | None = self.store.backend.call("GetItem", request).get("Item")
        return found


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
