"""Changes that a plan states in one line: rename, split, merge, drop, derive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import MigrationError
from keyfold.migrations.backend import Item
from keyfold.migrations.frozen_design import FrozenDesign
from keyfold.migrations.moves import Move, Output, Route, move, written_with
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


def drop(entity: type[Entity], *fields: str, where: str = "") -> Steps:
    """Remove fields of an entity in `contract`, or all its items.

    `where` selects the items whose fields are removed.
    """
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


def split(whole: type[Entity], part: type[Entity], *, fields: Iterable[str]) -> Steps:
    """Fields of one entity become items of another, with the same key fields."""
    names = tuple(fields)
    parting = _Parting(whole.__spec__, part.__spec__, names)
    dropped = [drop_attribute(whole, attribute) for attribute in sorted(parting.whole_part)]
    return (Move(parting.name, parting.out, parting.home, partial=True), *dropped)


def merge(part: type[Entity], whole: type[Entity], *, fields: Iterable[str]) -> Steps:
    """Items of one entity become fields of another; items without a counterpart stay."""
    parting = _Parting(whole.__spec__, part.__spec__, tuple(fields))
    name = f"{part.__name__} into {whole.__name__}"
    merged = Move(name, parting.home, parting.out, partial=True)
    return (merged, *drop(part)) if part.__table__.schema.type_attribute else (merged,)


class _Parting:
    """An item and its part that becomes a separate item; stored values keep their bytes."""

    def __init__(self, whole: EntitySpec, part: EntitySpec, fields: tuple[str, ...]) -> None:
        self.whole, self.part = whole, part
        self.name = f"{part.name} out of {whole.name}"
        self.shared = [name for name in whole.key.templates.fields if name not in fields]
        for name in (*self.shared, *fields):
            for spec in (whole, part):
                if name not in spec.fields:
                    raise MigrationError(
                        f"{spec.name} has no field {name!r}: {whole.name} and {part.name} both "
                        "need it, one as a part of the other"
                    )
        self.attributes = {_attribute(whole, name): _attribute(part, name) for name in fields}
        self.whole_part = frozenset(self.attributes)
        self.out = Route(
            self.name,
            whole.table.name,
            part.table.name,
            self._has_part,
            self._part_of,
            keeps=True,
            part=self.whole_part,
            lacks=self._missing_part,
        )
        self.home = Route(
            f"{self.name}, back",
            part.table.name,
            whole.table.name,
            part.recognises,
            self._whole_of,
        )

    def _has_part(self, item: Item) -> bool:
        return self.whole.recognises(item) and not self.whole_part.isdisjoint(item)

    def _missing_part(self, item: Item) -> Item | None:
        if not self.whole.recognises(item) or not self.whole_part.isdisjoint(item):
            return None
        values = self.whole.decode(item).__dict__
        given = {name: values[name] for name in self.part.key.templates.fields if name in values}
        return self.part.key_of(given)

    def _part_of(self, item: Item) -> Iterable[Output]:
        values = self.whole.decode(item).__dict__
        given = {name: values[name] for name in self.part.fields if name in values}
        made = self.part.entity.model_validate(given, by_name=True, by_alias=False)
        stored = {self.attributes[n]: w for n, w in item.items() if n in self.attributes}
        encoded = self.part.encode(made)
        kept = {n: w for n, w in encoded.items() if n not in self.attributes.values()}
        others = written_with(self.part, made)[1:]
        return [Output(self.part.table.name, {**kept, **stored}, moved=True), *others]

    def _whole_of(self, item: Item) -> Iterable[Output]:
        values = self.part.decode(item).__dict__
        given = {name: values[name] for name in self.shared}
        back = {new: old for old, new in self.attributes.items()}
        stored = {back[n]: w for n, w in item.items() if n in back}
        key = self.whole.key_of(given)
        return [Output(self.whole.table.name, {**key, **stored}, part=self.whole_part)]


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
