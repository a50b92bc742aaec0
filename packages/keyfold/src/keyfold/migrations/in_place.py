"""Items changed in place, if they are still what the change was computed from.

What a change replaces is noted in the same transaction, so that a rollback restores it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from keyfold.errors import ConditionFailed, TransactionCanceled
from keyfold.migrations.backend import Item
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.rewrites import undo_rewrites
from keyfold.migrations.undo import UndoRecord
from keyfold.migrations.wire_equality import equal, same
from keyfold.migrations.write_conditions import difference, unchanged

_TRIES: Final = 8


class InPlace:
    """The rewrites of one table in one direction."""

    def __init__(self, direction: Direction, table: str) -> None:
        self._direction, self._table, self._backend = direction, table, direction.backend
        self._rewrites = [one for one in direction.rewrites if one.table == table]
        self._log = direction.log if direction.stays(table) else None

    def rewrite(self, item: Item, image: Item | None = None) -> bool:
        """Change an item by all rewrites in one write: otherwise one rewrite's result would return
        through the stream to the next, for ever. `image` is the item before its last change.
        """
        if not self._rewrites:
            return False
        follows = any(one.follow for one in self._rewrites)
        if image is not None and follows:
            record = self._record(self._direction.key_of(self._table, item))
            if record is not None and record.is_of(image, item):
                image = None  # It was this migration, not the application.
        changed = self.apply(item, image)
        if self.write_over(item, changed):
            return True
        if image is None or changed is None:
            return False
        if equal(changed, item) and not follows:
            return False  # Otherwise an older change may have been followed since.
        return self._follow_late(item, image)

    def apply(self, item: Item, image: Item | None = None) -> Item | None:
        """The result of all rewrites of an item."""
        changed: Item | None = item
        for rewrite in self._rewrites:
            if changed is None:
                break
            try:
                if rewrite.follow is not None and image is not None:
                    changed = rewrite.follow(image, changed)
                else:
                    changed = rewrite.change(changed)
            except Exception as problem:  # The user's function failed.
                why = f"{rewrite.name}: {type(problem).__name__}: {problem}"
                raise Uncopyable(why) from problem
        return changed

    def replace(self, item: Item, change: Callable[[Item], Item | None]) -> bool:
        """Change an item that nothing else will change, also if another writer is faster; returns
        whether it had to be changed.
        """
        current: Item | None = item
        for _ in range(_TRIES):
            changed = None if current is None else change(current)
            if current is None or equal(changed, current):
                return False
            if self.write_over(current, changed):
                return True
            current = self._backend.item(self._table, self._direction.key_of(self._table, item))
        raise Uncopyable("other writers changed it all the while")

    def lacks(self, item: Item) -> bool:
        """Whether a rewrite would still change an item."""
        try:
            return bool(self._rewrites) and not equal(self.apply(item), item)
        except Uncopyable:
            return False  # Listed among the problems.

    def write_over(self, item: Item, changed: Item | None) -> bool:
        """Replace an item if it is unchanged; None deletes it."""
        key = self._direction.key_of(self._table, item)
        request = {"TableName": self._backend.physical(self._table), "Key": key}
        if changed is not None and equal(changed, item):
            noted = self._note_left(key, item)
            if not noted:
                return False
            action = {"ConditionCheck": {**request, **unchanged(item, key)}}
        elif changed is None:
            noted = self._note_removal(key, item)
            action = {"Delete": {**request, **unchanged(item, key)}}
        else:
            noted = self._note_change(key, item, changed)
            action = {"Update": {**request, **difference(item, changed, key)}}
        try:
            self._send(action, noted)
        except (ConditionFailed, TransactionCanceled) as refused:
            codes = {r.code for r in getattr(refused, "reasons", ())} - {"None"}
            if codes <= {"ConditionalCheckFailed"}:
                return False  # Another writer changed it: that change comes through the stream.
            raise
        return True

    def _send(self, action: Item, noted: list[Item]) -> None:
        """One write, with its notes."""
        if noted:
            self._backend.call("TransactWriteItems", {"TransactItems": [action, *noted]})
            return
        ((name, one),) = action.items()
        self._backend.call(f"{name}Item", one)

    def _follow_late(self, item: Item, image: Item) -> bool:
        """Follow a change although the item has changed since, if only this migration and the same
        attribute's writers changed it: other changes come with their own records.
        """
        touched = [n for n in image.keys() | item.keys() if not same(image.get(n), item.get(n))]
        key = self._direction.key_of(self._table, item)
        for _ in range(_TRIES):
            current = self._backend.item(self._table, key)
            if current is None:
                return False
            before = {n: w for n, w in current.items() if n not in touched}
            before |= {n: image[n] for n in touched if n in image}
            changed = self.apply(current, before) or {}
            record = self._record(key)
            for name in changed.keys() | current.keys():
                now = current.get(name)
                if same(changed.get(name), now) or same(now, item.get(name)):
                    continue
                if record is None or not record.wrote(name, now):
                    return False
            if equal(changed, current) or self.write_over(current, changed):
                return True
        return False

    # What is noted, so that a rollback can undo it.

    def _record(self, key: Item) -> UndoRecord | None:
        return None if self._log is None else self._log.find(self._table, key)

    def _note_removal(self, key: Item, item: Item) -> list[Item]:
        if self._log is None:
            return []
        record = self._record(key)
        revision = 0 if record is None else record.revision + 1
        removed = UndoRecord("removed", self._table, key, dict(item), revision=revision)
        return self._log.writes(removed)

    def _note_change(self, key: Item, item: Item, changed: Item) -> list[Item]:
        record = self._record(key)
        if self._log is None or (record is not None and record.kind == "made"):
            return []
        adds = frozenset[str]().union(*(rewrite.adds for rewrite in self._rewrites))
        computed = frozenset(
            name
            for rewrite in self._rewrites
            if rewrite.computes
            for back in [undo_rewrites([rewrite], item)]
            for name in rewrite.computes
            if not self._direction.early or same(back.get(name), item.get(name))
        )
        known = record or UndoRecord("changed", self._table, key, revision=-1)
        left = self._untouched(item, changed, record)
        return self._log.writes(known.with_change(item, changed, adds, computed, left))

    def _note_left(self, key: Item, item: Item) -> list[Item]:
        """What keeps the way back from undoing what was never done to an item."""
        back = undo_rewrites(self._rewrites, item)
        if self._log is None or equal(back, item):
            return []
        if not self._direction.early:
            return self._note_echoed(key, item)
        record = self._record(key)
        known = record or UndoRecord("changed", self._table, key, revision=-1)
        noted = known.with_change(item, item, left=self._untouched(item, item, record))
        is_known = (noted.before, noted.after) == (known.before, known.after)
        return [] if is_known or known.kind == "made" else self._log.writes(noted)

    def _note_echoed(self, key: Item, item: Item) -> list[Item]:
        """What keeps the way back from taking an attribute's new name for newer than its former
        one: an application that follows wrote both, and an older one may write the former again.
        """
        names = frozenset[str]()
        for one in (one for one in self._rewrites if one.echo):
            former = undo_rewrites([one], item)
            if all(same(former[n], item.get(n)) for n in former.keys() - one.adds):
                names |= one.adds & item.keys()
        if not names:
            return []
        record = self._record(key)
        if record is not None and (
            record.kind == "made" or all(record.wrote(name, item[name]) for name in names)
        ):
            return []
        assert self._log is not None
        known = record or UndoRecord("changed", self._table, key, revision=-1)
        without = {name: wire for name, wire in item.items() if name not in names}
        return self._log.writes(known.with_change(without, item, names))

    def _untouched(self, item: Item, changed: Item, record: UndoRecord | None) -> frozenset[str]:
        """Attributes that no rewrite changes, and that undoing them would: the old shape had them.

        An item that this migration has changed may wait for a change that follows.
        """
        if not self._direction.early:
            return frozenset()
        settled = [one for one in self._rewrites if record is None or one.follow is None]
        back = undo_rewrites(settled, changed)
        return frozenset(
            name
            for name in back.keys() | item.keys()
            if same(changed.get(name), item.get(name)) and not same(back.get(name), item.get(name))
        )
