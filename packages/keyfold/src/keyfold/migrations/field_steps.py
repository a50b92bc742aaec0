"""Changes that a plan states in one line: rename, drop, derive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import MigrationError
from keyfold.migrations.frozen_design import FrozenDesign
from keyfold.migrations.moves import Move, move
from keyfold.migrations.rewrites import (
    Rewrite,
    add_attribute,
    drop_attribute,
    remove_items,
    rename_attribute,
)
from keyfold.settings import nearest

Steps = Sequence[Move | Rewrite]


@overload
def rename(was: type[Entity], now: type[Entity], /) -> Steps: ...
@overload
def rename(entity: type[Entity], was: str, now: str, /) -> Steps: ...
def rename(first: type[Entity], second: Any, third: str = "", /) -> Steps:
    """Rename an entity or a field: `rename(User, "mail", "email")`.

    A field's attribute is stored under both names until `contract`. A class is stored only by its
    type name: keep that with `type_name=`, or move it to another table.
    """
    if third:
        spec = first.__spec__
        was, now = _attribute(spec, second), _attribute(spec, third)
        return (rename_attribute(first, was, now), drop_attribute(first, was))
    old, new = first.__spec__, second.__spec__
    if old.table.name != new.table.name:
        return (move(first, second),)
    if old.table.schema.type_attribute is not None and old.type_name != new.type_name:
        raise MigrationError(
            f"items of {old.name} have the type {old.type_name!r}, by which running applications "
            f"find them. Declare {new.name} with "
            f"type_name={old.type_name!r}: then nothing needs to change"
        )
    if str(old.key.templates) != str(new.key.templates):
        return (move(first, second),)
    return ()


def drop(entity: str | type[Entity], *fields: str, where: str = "") -> Steps:
    """Remove fields of an entity in `contract`, or all its items.

    Of a table, given by name, attributes are removed. `where` selects the items whose fields are
    removed.
    """
    if isinstance(entity, str):
        return tuple(drop_attribute(entity, name, where=where) for name in fields)
    spec = entity.__spec__
    if fields:
        names = [_attribute(spec, field) for field in fields]
        return tuple(drop_attribute(entity, name, where=where) for name in names)
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
    return (remove_items(spec.table.name, spec.type_name, named),)


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
    attribute = field if isinstance(entity, str) else _attribute(entity.__spec__, field)
    return add_attribute(entity, attribute, value, where=where)


def _attribute(spec: EntitySpec, field: str) -> str:
    """A field's attribute name, in either design of a plan; accepts attribute names too."""
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
            f"{nearest(field, known)}. For an attribute that no design declares, use "
            "add_attribute, rename_attribute or drop_attribute"
        )
    return field
