"""What an item of one side maps to on the other, by all routes of one direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold.errors import ConditionFailed, KeyfoldError, MigrationError, TransactionCanceled
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.rewrites import Rewrite, undo_rewrites
from keyfold.migrations.spelling import equal, same
from keyfold.migrations.state import key_text
from keyfold.migrations.undo import UndoLog, UndoRecord
from keyfold_engine.limits import TRANSACTION_ITEMS


class Uncopyable(MigrationError):
    """An item that cannot be copied as it is."""


@dataclass
class Sides:
    """The routes of one direction by source table, with the key names of all tables."""

    backend: Backend
    routes: Sequence[Route]
    rewrites: Sequence[Rewrite] = ()
    log: UndoLog | None = None
    """Records changes of tables that stay, so that they can be undone."""
    early: bool = False
    """The new shape is not written yet: all items have the old one."""
    created: frozenset[str] = frozenset()
    """The tables that a rollback removes completely."""
    natives: frozenset[tuple[str, str]] = frozenset()
    """Items that no route created and none removes."""
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        tables = [route.source for route in self.routes]
        return list(dict.fromkeys([*tables, *(rewrite.table for rewrite in self.rewrites)]))

    def key_of(self, table: str, item: Mapping[str, Any]) -> Item:
        names = self._keys.get(table)
        if names is None:
            names = self._keys[table] = self.backend.key_attributes(table)
        return {name: item[name] for name in names}

    def outputs(self, table: str, item: Item | None) -> dict[tuple[str, str], Output]:
        """What an item maps to on the other side, by address; raises Refused if that is unknown."""
        found: dict[tuple[str, str], Output] = {}
        if item is None:
            return found
        for route in self.routes:
            if route.source != table or not route.selects(item) or self.is_native(table, item):
                continue
            for output in self._outputs_by(route, item):
                found[output.table, key_text(self.key_of(output.table, output.item))] = output
        if len(found) >= TRANSACTION_ITEMS:
            raise Uncopyable(f"it stands for {len(found)} items, more than one transaction takes")
        return found

    def _outputs_by(self, route: Route, item: Item) -> Iterable[Output]:
        try:
            return list(route.outputs(item))
        except Exception as problem:  # The user's function failed, or the item was unexpected.
            kind = "" if isinstance(problem, KeyfoldError) else f"{type(problem).__name__}: "
            raise Uncopyable(f"{route.name}: {kind}{problem}") from problem

    def concerns(self, table: str, item: Item) -> bool:
        return any(
            route.source == table and route.selects(item) for route in self.routes
        ) and not self.is_native(table, item)

    def accounts_for(self, table: str, item: Item) -> bool:
        """Whether an item is moved, or written again because of a moved one."""
        return self.concerns(table, item) or any(
            route.source == table and route.follows(item) for route in self.routes
        )

    def is_native(self, table: str, item: Item) -> bool:
        return bool(self.natives) and (table, key_text(self.key_of(table, item))) in self.natives

    def stays(self, table: str) -> bool:
        """Whether writes to a table must be undone one by one."""
        return self.log is not None and table not in self.created


@dataclass
class Tally:
    """What copying and rewriting did."""

    copied: int = 0
    skipped: int = 0
    problems: int = 0
    write_units: float = 0.0

    def add(self, other: Tally) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def spend(self, consumed: Sequence[Mapping[str, Any]]) -> None:
        """Add the units of an answer."""
        self.write_units += sum(float(used.get("CapacityUnits", 0)) for used in consumed)


def rewrite_item(
    sides: Sides,
    table: str,
    item: Item,
    image: Item | None = None,
    tally: Tally | None = None,
) -> bool:
    """Change an item in place, if it is still what the change was computed from.

    All rewrites are one write: otherwise one rewrite's result would return through the stream to
    the next, for ever. `image` is the item before its last change, if known.
    """
    if image is not None and sides.log is not None and any(r.follow for r in sides.rewrites):
        record = sides.log.find(table, sides.key_of(table, item))
        if record is not None and record.is_of(image, item):
            image = None  # It was this migration, not the application.
    changed = apply_rewrites(sides, table, item, image)
    if write_over(sides, table, item, changed, tally):
        return True
    if image is None or changed is None:
        return False
    follows = any(r.follow for r in sides.rewrites if r.table == table)
    if equal(changed, item) and not follows:
        return False  # Otherwise an older change may have been followed since.
    return _follow_late(sides, table, item, image, tally)


def _follow_late(sides: Sides, table: str, item: Item, image: Item, tally: Tally | None) -> bool:
    """Follow a change although the item has changed since, if only this migration and the same
    attribute's writers changed it: other changes come with their own records.
    """
    touched = [n for n in image.keys() | item.keys() if not same(image.get(n), item.get(n))]
    key = sides.key_of(table, item)
    for _ in range(_TRIES):
        current = sides.backend.item(table, key)
        if current is None:
            return False
        before = {n: w for n, w in current.items() if n not in touched}
        before |= {n: image[n] for n in touched if n in image}
        changed = apply_rewrites(sides, table, current, before) or {}
        record = sides.log.find(table, key) if sides.log is not None else None
        for name in changed.keys() | current.keys():
            now = current.get(name)
            if same(changed.get(name), now) or same(now, item.get(name)):
                continue
            if record is None or not record.wrote(name, now):
                return False
        if equal(changed, current) or write_over(sides, table, current, changed, tally):
            return True
    return False


_TRIES = 5
ABSENT: Final = "attribute_not_exists(#key)"
PRESENT: Final = "attribute_exists(#key)"
_COUNTED = {"ReturnConsumedCapacity": "TOTAL"}


def apply_rewrites(sides: Sides, table: str, item: Item, image: Item | None = None) -> Item | None:
    """The result of all rewrites of an item."""
    changed: Item | None = item
    for rewrite in sides.rewrites:
        if rewrite.table == table and changed is not None:
            try:
                if rewrite.follow is not None and image is not None:
                    changed = rewrite.follow(image, changed)
                else:
                    changed = rewrite.change(changed)
            except Exception as problem:  # The user's function failed.
                raise Uncopyable(
                    f"{rewrite.name}: {type(problem).__name__}: {problem}"
                ) from problem
    return changed


def write_over(
    sides: Sides,
    table: str,
    item: Item,
    changed: Item | None,
    tally: Tally | None = None,
) -> bool:
    """Replace an item if it is unchanged; None deletes it."""
    backend, key = sides.backend, sides.key_of(table, item)
    request = {"TableName": backend.physical(table), "Key": key}
    noted: list[Item] = []
    if changed is not None and equal(changed, item):
        noted = _note_left(sides, table, key, item)
        if not noted:
            return False
        action = {"ConditionCheck": {**request, **unchanged(item, key)}}
    elif changed is None:
        noted = _note_change(sides, table, key, item, None)
        action = {"Delete": {**request, **unchanged(item, key)}}
    else:
        noted = _note_change(sides, table, key, item, changed)
        action = {"Update": {**request, **difference(item, changed, key)}}
    try:
        if noted:
            transaction = {"TransactItems": [action, *noted], **_COUNTED}
            consumed = backend.call("TransactWriteItems", transaction).get("ConsumedCapacity", [])
        else:
            ((name, one),) = action.items()
            consumed = [backend.call(f"{name}Item", one | _COUNTED).get("ConsumedCapacity", {})]
    except (ConditionFailed, TransactionCanceled) as refused:
        codes = {r.code for r in getattr(refused, "reasons", ())} - {"None"}
        if codes <= {"ConditionalCheckFailed"}:
            return False  # Another writer changed it: that change comes through the stream.
        raise
    if tally is not None:
        tally.spend(consumed)
    return True


def _note_change(
    sides: Sides, table: str, key: Item, item: Item, changed: Item | None
) -> list[Item]:
    """What is written beside a change so that it can be undone; None takes the item away."""
    if not sides.stays(table):
        return []
    assert sides.log is not None
    record = sides.log.find(table, key)
    if changed is None:
        revision = 0 if record is None else record.revision + 1
        return sides.log.writes(UndoRecord("removed", table, key, dict(item), revision=revision))
    if record is not None and record.kind == "made":
        return []
    rewrites = [rewrite for rewrite in sides.rewrites if rewrite.table == table]
    adds = frozenset[str]().union(*(rewrite.adds for rewrite in rewrites))
    computed = frozenset(
        name
        for rewrite in rewrites
        if rewrite.computes
        for back in [undo_rewrites([rewrite], item)]
        for name in rewrite.computes
        if not sides.early or same(back.get(name), item.get(name))
    )
    known = record or UndoRecord("changed", table, key, revision=-1)
    left = _untouched_attributes(sides, rewrites, item, changed, record)
    return sides.log.writes(known.with_change(item, changed, adds, computed, left))


def _note_left(sides: Sides, table: str, key: Item, item: Item) -> list[Item]:
    """What keeps the way back from undoing what was never done to an item."""
    rewrites = [rewrite for rewrite in sides.rewrites if rewrite.table == table]
    back = undo_rewrites(rewrites, item)
    if not sides.stays(table) or equal(back, item):
        return []
    if not sides.early:
        return _note_echoed(sides, table, key, item, back, rewrites)
    assert sides.log is not None
    record = sides.log.find(table, key)
    left = _untouched_attributes(sides, rewrites, item, item, record)
    known = record or UndoRecord("changed", table, key, revision=-1)
    noted = known.with_change(item, item, left=left)
    is_known = (noted.before, noted.after) == (known.before, known.after)
    return [] if is_known or known.kind == "made" else sides.log.writes(noted)


def _note_echoed(
    sides: Sides, table: str, key: Item, item: Item, back: Item, rewrites: Sequence[Rewrite]
) -> list[Item]:
    """What keeps the way back from taking an attribute's new name for newer than its former one: an
    application that follows wrote both, and an older one may write the former again.
    """
    assert sides.log is not None
    echoed = frozenset().union(*(rewrite.adds for rewrite in rewrites if rewrite.echo is not None))
    names = echoed & item.keys()
    if not names or any(not same(back.get(n), item.get(n)) for n in back.keys() - names):
        return []
    record = sides.log.find(table, key)
    if record is not None and (
        record.kind == "made" or all(record.wrote(name, item[name]) for name in names)
    ):
        return []
    known = record or UndoRecord("changed", table, key, revision=-1)
    without = {name: wire for name, wire in item.items() if name not in names}
    return sides.log.writes(known.with_change(without, item, names))


def _untouched_attributes(
    sides: Sides,
    rewrites: Sequence[Rewrite],
    item: Item,
    changed: Item,
    record: UndoRecord | None,
) -> frozenset[str]:
    """Attributes that no rewrite changes, and that undoing them would: the old shape had them.

    An item that this migration has changed may wait for a change that follows.
    """
    if not sides.early:
        return frozenset()
    settled = [rewrite for rewrite in rewrites if record is None or rewrite.follow is None]
    back = undo_rewrites(settled, changed)
    return frozenset(
        name
        for name in back.keys() | item.keys()
        if same(changed.get(name), item.get(name)) and not same(back.get(name), item.get(name))
    )


def absent(key: Item) -> Item:
    """The condition that no item exists."""
    return {"ConditionExpression": ABSENT, "ExpressionAttributeNames": {"#key": next(iter(key))}}


def unchanged(item: Item, key: Item) -> Item:
    """The condition that an item is unchanged, as far as a condition can express."""
    names, values, conditions = {"#key": next(iter(key))}, {}, ["attribute_exists(#key)"]
    for number, (name, wire) in enumerate(sorted(item.items())[:20]):
        if name not in key and len(str(wire)) < 200:
            names[f"#n{number}"], values[f":b{number}"] = name, wire
            conditions.append(f"#n{number} = :b{number}")
    request: Item = {
        "ConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": names,
    }
    return {**request, "ExpressionAttributeValues": values} if values else request


def difference(item: Item, changed: Item, key: Item) -> Item:
    """An update from one to the other, if the changed attributes are unchanged."""
    names: dict[str, str] = {"#key": next(iter(key))}
    values: Item = {}
    sets, removes, conditions = [], [], ["attribute_exists(#key)"]
    for number, name in enumerate(sorted(item.keys() | changed.keys())):
        before, after = item.get(name), changed.get(name)
        if before == after or name in key:
            continue
        placeholder = f"#n{number}"
        names[placeholder] = name
        if before is None:
            conditions.append(f"attribute_not_exists({placeholder})")
        else:
            values[f":b{number}"] = before
            conditions.append(f"{placeholder} = :b{number}")
        if after is None:
            removes.append(placeholder)
        else:
            values[f":a{number}"] = after
            sets.append(f"{placeholder} = :a{number}")
    clauses = [f"SET {', '.join(sets)}"] * bool(sets)
    clauses += [f"REMOVE {', '.join(removes)}"] * bool(removes)
    request: Item = {
        "UpdateExpression": " ".join(clauses),
        "ConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": names,
    }
    return {**request, "ExpressionAttributeValues": values} if values else request
