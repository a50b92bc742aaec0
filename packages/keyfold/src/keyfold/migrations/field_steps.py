"""Changes that a plan states in one line: rename, drop, derive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keyfold.design.entity import Entity
from keyfold.errors import MigrationError
from keyfold.migrations.backend import Item
from keyfold.migrations.frozen_design import FrozenDesign
from keyfold.migrations.rewrites import Rewrite, rewrite_items
from keyfold.migrations.wire_equality import same
from keyfold.settings import nearest
from keyfold_engine.values.codec import decode, encode

Steps = Sequence[Rewrite]


def rename(entity: str | type[Entity], was: str, now: str, /) -> Steps:
    """Rename a field: `rename(User, "mail", "email")`.

    Its attribute, or one of a table's, is stored under both names until `contract`: writes under
    the old name are copied to the new one, and applications that follow write both.
    """
    old, new = _attribute(entity, was), _attribute(entity, now)
    return (_copied(entity, old, new), _dropped(entity, old))


def drop(entity: str | type[Entity], *fields: str, where: str = "") -> Steps:
    """Remove fields of an entity in `contract`, or all its items.

    Of a table, given by name, attributes are removed. `where` selects the items whose fields are
    removed.
    """
    if isinstance(entity, str):
        return tuple(_dropped(entity, name, where) for name in fields)
    spec = entity.__spec__
    if fields:
        return tuple(_dropped(entity, _attribute(entity, field), where) for field in fields)
    if where:
        raise MigrationError(
            f"drop({spec.name}, where=...) names no fields. A subset of its items cannot be "
            "dropped, because their pointers and markers would stay. Let the application delete "
            "them"
        )
    named = spec.table.schema.type_attribute
    if named is None:
        raise MigrationError(
            f"items of {spec.name} have no type attribute, so they cannot be identified; remove "
            "them with your own Rewrite"
        )
    return (_without_items(spec.table.name, spec.type_name, named),)


def derive(
    entity: str | type[Entity],
    field: str,
    value: Callable[[dict[str, Any]], Any],
    *,
    where: str = "",
) -> Rewrite:
    """Add a field computed from the others; existing values stay.

    `where` selects items: `where='status = "open"'`.
    """
    attribute = _attribute(entity, field)

    def change(item: Item) -> Item:
        if attribute in item:
            return item
        given = value({name: decode(wire) for name, wire in item.items()})
        return item if given is None else {**item, attribute: encode(given)}

    def undo(item: Item) -> Item:
        return {name: wire for name, wire in item.items() if name != attribute}

    return rewrite_items(f"add {attribute} to items", entity, change, undo, where=where)


def _copied(items: str | type[Entity], old: str, new: str) -> Rewrite:
    """Store an attribute under both names."""

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

    def echo(before: Item, item: Item) -> Item:
        unchanged = same(before.get(new), item.get(new))
        return {old: before.get(old) if unchanged else item.get(new)}

    return rewrite_items(
        f"copy {old} to {new} in items",
        items,
        change,
        undo,
        follow=follow,
        adds=frozenset((new,)),
        echo=echo,
    )


def _set(item: Item, name: str, wire: Any) -> Item:
    rest = {one: value for one, value in item.items() if one != name}
    return rest if wire is None else {**rest, name: wire}


def _dropped(items: str | type[Entity], attribute: str, where: str = "") -> Rewrite:
    """Remove an attribute, at the very end."""

    def change(item: Item) -> Item:
        return {name: wire for name, wire in item.items() if name != attribute}

    return rewrite_items(
        f"drop {attribute} from items", items, change, when="contract", where=where
    )


def _without_items(table: str, type_name: str, type_attribute: str) -> Rewrite:
    """Delete all items of a type, at the very end."""

    def change(item: Item) -> Item | None:
        return None if item.get(type_attribute, {}).get("S") == type_name else item

    return Rewrite(f"remove all {type_name} of {table}", table, change, when="contract")


def _attribute(entity: str | type[Entity], field: str) -> str:
    """A field's attribute name, in either design of a plan; accepts attribute names too."""
    if isinstance(entity, str):
        return field
    spec = entity.__spec__
    specs = [spec]
    design = spec.table.design
    other = design.other if isinstance(design, FrozenDesign) else None
    if other is not None and spec.name in other.entities:
        specs.append(other.entities[spec.name].__spec__)
    for one in specs:
        if field in one.fields:
            return one.fields[field].attribute
    known = {name for one in specs for name in (*one.fields, *one.by_attribute)}
    if len(specs) > 1 and field not in known:
        raise MigrationError(
            f"{spec.name} has no field {field!r} in this plan, neither before nor after it; "
            f"{nearest(field, known)}. For an attribute that no design declares, name "
            "the table in place of the entity"
        )
    return field
