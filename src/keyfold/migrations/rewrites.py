"""Rewrites: items changed where they are, attribute by attribute, never over a newer write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from keyfold.design.condition import fields_of, stored_condition
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.schema import KeyTemplates, TableSchema
from keyfold.design.shorthand import template
from keyfold.errors import MigrationError
from keyfold.expressions.evaluate import compile_condition
from keyfold.expressions.parser import literal_condition
from keyfold.maintain.unique import marker_prefix
from keyfold.migrations.backend import Item
from keyfold.migrations.spelling import same
from keyfold.values.codec import decode, encode

Change = Callable[[Item], Item | None]
"""What an item becomes; None takes it away."""


@dataclass(frozen=True)
class Rewrite:
    """A change of the items of a table; items that it would not change are left alone.

    What takes something away belongs to `contract`; nothing else can undo it.
    """

    name: str
    table: str
    change: Change
    undo: Change | None = None
    when: Literal["backfill", "contract"] = "backfill"
    follow: Callable[[Item, Item], Item] | None = None
    """What an item becomes by its last change, given it before and after; where None, `change`."""
    adds: frozenset[str] = frozenset()
    """Attributes that the old shape does not have."""
    schema: TableSchema | None = None

    def words(self) -> str:
        return self.name


def _rewrite(
    does: str,
    items: str | type[Entity],
    change: Change,
    undo: Change | None = None,
    when: Literal["backfill", "contract"] = "backfill",
    follow: Callable[[Item, Item], Item] | None = None,
    adds: frozenset[str] = frozenset(),
    where: str = "",
) -> Rewrite:
    """A rewrite of one entity's items, or of all items of the table that is named.

    `where` leaves the others alone: `level > 3 AND attribute_exists(email)`.
    """
    spec = None if isinstance(items, str) else items.__spec__
    table = items if isinstance(items, str) else items.__table__.name
    named = f"{does} of {table}" if spec is None else f"{does} of {spec.name} in {table}"
    concerns = _selection(spec, where)

    def within(one: Change) -> Change:
        return lambda item: one(item) if concerns(item) else item

    return Rewrite(
        f"{named} where {where}" if where else named,
        table,
        within(change),
        None if undo is None else within(undo),
        when,
        None
        if follow is None
        else lambda before, item: follow(before, item) if concerns(item) else item,
        adds,
        None if spec is None else spec.table.schema,
    )


def _selection(spec: EntitySpec | None, where: str) -> Callable[[Item], bool]:
    """Whether an item is an entity's, where there is one, and what `where` says of it holds."""
    if spec is None:
        return compile_condition(literal_condition(where, "where")) if where else lambda _: True
    if not where:
        return spec.recognises
    condition = literal_condition(where, "where")
    if unknown := sorted(fields_of(condition) - {*spec.fields, *spec.attributes}):
        raise MigrationError(
            f"where={where!r}: {spec.name} has no field {unknown[0]!r}; it has "
            f"{', '.join(spec.fields)}"
        )
    holds = compile_condition(stored_condition(condition, spec))
    return lambda item: spec.recognises(item) and holds(item)


def add_attribute(
    items: str | type[Entity],
    attribute: str,
    value: Callable[[dict[str, Any]], Any],
    *,
    where: str = "",
) -> Rewrite:
    """Give items an attribute, computed from the others; items that have one keep it."""

    def change(item: Item) -> Item:
        if attribute in item:
            return item
        given = value({name: decode(wire) for name, wire in item.items()})
        return item if given is None else {**item, attribute: encode(given)}

    def undo(item: Item) -> Item:
        return {name: wire for name, wire in item.items() if name != attribute}

    return _rewrite(f"add {attribute} to items", items, change, undo, where=where)


class undecided:
    """What only the reader of a plan can say; until it is said the plan is refused.

    It stands on a function that has to be written, or among the steps in the place of one.
    """

    def __init__(self, question: str) -> None:
        self.question = question

    def __call__(self, function: Callable[..., Any]) -> NoReturn:
        code = function.__code__
        raise MigrationError(
            f"{code.co_filename}:{code.co_firstlineno}: {function.__name__} is not decided yet: "
            f"{self.question} Write what it returns, and take @undecided away"
        )

    def refusal(self, plan: str) -> MigrationError:
        return MigrationError(
            f"{plan} is not decided yet: {self.question} Put the answer in the place of undecided"
        )


def drop_attribute(items: str | type[Entity], attribute: str, *, where: str = "") -> Rewrite:
    """Take an attribute away, at the very end."""

    def change(item: Item) -> Item:
        return {name: wire for name, wire in item.items() if name != attribute}

    return _rewrite(f"drop {attribute} from items", items, change, when="contract", where=where)


def rename_attribute(items: str | type[Entity], old: str, new: str) -> Rewrite:
    """Give items the attribute under both names; `drop_attribute` ends the old one.

    What is written under the old name is copied to the new one, and not the other way.
    """

    def change(item: Item) -> Item:
        if old in item and new not in item:
            return {**item, new: item[old]}
        return item

    def follow(before: Item, item: Item) -> Item:
        if not same(before.get(old), item.get(old)):
            return _set(item, new, item.get(old))
        return change(item)

    def undo(item: Item) -> Item:
        without = _set(item, new, None)
        return {**without, old: item[new]} if new in item else without

    return _rewrite(
        f"copy {old} to {new} in items",
        items,
        change,
        undo,
        follow=follow,
        adds=frozenset((new,)),
    )


def _set(item: Item, name: str, wire: Any) -> Item:
    rest = {one: value for one, value in item.items() if one != name}
    return rest if wire is None else {**rest, name: wire}


def transform_attribute(
    items: str | type[Entity],
    attribute: str,
    forward: Callable[[Any], Any],
    backward: Callable[[Any], Any] | None = None,
    *,
    where: str = "",
) -> Rewrite:
    """Change an attribute's value; `forward` leaves values alone that it has changed before.

    An item is met more than once, by the scan, by its stream and after a kill, and nothing tells
    an old value from a new one but the functions themselves. Those that cannot are refused.
    """

    def using(function: Callable[[Any], Any], *checked: Callable[[Any], Any]) -> Change:
        def change(item: Item) -> Item:
            if attribute not in item:
                return item
            stored = decode(item[attribute])
            made = _once_and_for_all(function, stored)
            for one in checked:
                _once_and_for_all(one, made)
            # What the function leaves as it is keeps its bytes.
            return item if made == stored else {**item, attribute: encode(made)}

        return change

    undo = using(backward) if backward is not None else None
    back = () if backward is None else (backward,)
    does = f"transform {attribute} in items"
    return _rewrite(does, items, using(forward, *back), undo, where=where)


def _once_and_for_all(function: Callable[[Any], Any], value: Any) -> Any:
    once = function(value)
    twice = function(once)
    if twice != once:
        raise MigrationError(
            f"it would make {once!r} of {value!r} and then {twice!r} of that, and items are met "
            "more than once; let the function leave alone what it has changed, or write to a new "
            "attribute with add_attribute"
        )
    return once


def fill_indexes(
    entity: type[Entity], before: Mapping[str, Sequence[tuple[tuple[str, ...], str]]] | None = None
) -> Rewrite:
    """Give an entity's items the index keys that its declaration asks for, and no others.

    `before` says what it asked for until now, so that going back gives those keys again: for each
    index its key templates with the condition, which is empty where there was none.
    """
    spec = entity.__spec__
    keys = {a.attribute for placement in spec.placements.values() for a in placement.attributes}
    old = [
        _OldPlace(spec, index, templates, condition)
        for index, places in (before or {}).items()
        for templates, condition in places
    ]
    keys |= {name for place in old for name in place.templates}
    keys -= {*spec.by_attribute, *spec.table.schema.key_attributes}

    def with_keys(item: Item, found: Item) -> Item:
        return {name: wire for name, wire in item.items() if name not in keys} | found

    def change(item: Item) -> Item:
        return with_keys(item, spec.index_attributes(spec.decode(item).__dict__))

    def undo(item: Item) -> Item:
        found: Item = {}
        for place in old:
            found |= place.keys(item)
        return with_keys(item, found)

    return _rewrite("fill the index keys", entity, change, undo)


class _OldPlace:
    """What an entity's items had as keys of an index before."""

    def __init__(
        self, spec: EntitySpec, index: str, templates: tuple[str, ...], condition: str
    ) -> None:
        found = spec.table.schema.index(index)
        if found is None:
            raise MigrationError(f"the table {spec.table.name} has no index {index}")
        self._spec = spec
        old = found.templates(KeyTemplates(*map(template, templates)))
        self.templates = {name: one for name, _, one in old}
        self._kinds = found.key_types
        self._holds = (
            compile_condition(stored_condition(literal_condition(condition), spec))
            if condition
            else None
        )

    def keys(self, item: Item) -> Item:
        if self._holds is not None and not self._holds(item):
            return {}
        values = self._spec.decode(item).__dict__
        if None in [values.get(f) for t in self.templates.values() for f in t.fields]:
            return {}
        owner = f"{self._spec.name}, back"
        texts = {n: t.render(values, owner=owner) for n, t in self.templates.items()}
        return {name: {self._kinds[name]: text} for name, text in texts.items()}


def remove_items(table: str, type_name: str, type_attribute: str = "type") -> Rewrite:
    """Take away all items of a type, at the very end."""

    def change(item: Item) -> Item | None:
        return None if item.get(type_attribute, {}).get("S") == type_name else item

    return Rewrite(f"remove all {type_name} of {table}", table, change, when="contract")


def remove_markers(table: str, partition: str, entity: str, *fields: str) -> Rewrite:
    """Take away the markers of a unique value that is unique no more, at the very end."""
    prefix = marker_prefix(entity, fields)

    def change(item: Item) -> Item | None:
        return None if item.get(partition, {}).get("S", "").startswith(prefix) else item

    named = "+".join(fields)
    return Rewrite(f"remove the markers of {entity}.{named}", table, change, when="contract")
