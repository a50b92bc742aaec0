"""Converts items from one shape to another: declared fields are transformed, the rest is carried.

A transform knows fields. An item holds more: undeclared attributes, values in other spellings, and
fields that the transform omits. None of it is lost. Unchanged values keep their bytes, and what
could not be restored on the way back is carried under its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import MigrationError
from keyfold.migrations.backend import Item
from keyfold.migrations.wire_equality import equal, same

Transform = Callable[[Any], Any]


@dataclass(frozen=True)
class ItemConversion:
    """One direction: from one entity's items to another's."""

    source: EntitySpec
    target: EntitySpec
    change: Transform
    reverse: Transform
    drops: frozenset[str] = frozenset()
    """Attributes that are dropped on purpose."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """New names of renamed attributes, by their old names."""
    strict: bool = True
    """Refuse an undeclared attribute that contradicts the transform, instead of omitting it."""

    @property
    def back(self) -> ItemConversion:
        """The other direction, where a contradiction is a leftover of this one."""
        former = {new: old for old, new in self.renamed.items()}
        return ItemConversion(
            self.target, self.source, self.reverse, self.change, self.drops, former, strict=False
        )

    def carry(self, item: Item, base: Item | None = None) -> tuple[Entity, Item]:
        """An item converted, as entity and as item; `base` is what is stored there so far."""
        old = self.source.decode(item)
        was = self.source.encode(old)
        new: Entity = self.change(old)
        made = self.target.encode(new)
        back = self.source.encode(self.reverse(new))
        rest = self._rest(item, was, back)
        adopted = {
            name: wire
            for name, wire in rest.items()
            if name in self.target.by_attribute and not same(made.get(name), wire)
        }
        if adopted:
            candidate = self.target.decode({**made, **adopted})
            if equal(self.source.encode(self.reverse(candidate)), back):
                new, made = candidate, self.target.encode(candidate)
            elif self.strict:
                raise MigrationError(
                    f"its attribute {sorted(adopted)[0]} is not declared by {self.source.name}, "
                    f"and {self.target.name} computes another value for it; declare it, and "
                    "handle it in the transform"
                )
            else:
                rest = {name: wire for name, wire in rest.items() if name not in adopted}
        self._refuse_taken(rest, made)
        there = {} if base is None else self._canonical(base)
        kept = {
            name: self._spelling_of(name, wire, item, was, rest, base or {}, there)
            for name, wire in made.items()
        }
        more = {name: wire for name, wire in rest.items() if name not in made}
        # What is meant to be lost is lost with the side that has it, not by a write of the other.
        stays = {name: wire for name, wire in (base or {}).items() if name in self.drops}
        return new, {**stays, **more, **kept}

    def onto(self, item: Item, base: Item | None) -> Item:
        """An item converted where `base` is stored; an equivalent one stays as it is."""
        if base is not None and self._stands_for(base, item):
            return base
        return self.carry(item, base)[1]

    def _stands_for(self, base: Item, item: Item) -> bool:
        try:
            return equal(self.back.carry(base)[1], item)
        except Exception:  # An undecodable item is equivalent to nothing.
            return False

    def _canonical(self, base: Item) -> Item:
        try:
            return self.target.encode(self.target.decode(base))
        except Exception:  # It is replaced completely.
            return {}

    def _rest(self, item: Item, was: Item, back: Item) -> Item:
        """The attributes that the transform does not carry."""
        found = {}
        for name, wire in item.items():
            if name in self.drops or name in self.source.table.schema.key_attributes:
                continue
            if name in self.counted_here or name in self.counted_back:
                continue  # A design computes its numbers from the items that it has.
            if name not in self.source.attributes:
                found[name] = wire
            elif name in was:
                if name in self.source.by_attribute and not same(back.get(name), was[name]):
                    found[name] = wire
            elif name in self.source.by_attribute and (
                name not in self.target.attributes or name in self.target.by_attribute
            ):
                # Stored as NULL, read as missing.
                found[self.renamed.get(name, name)] = wire
        return found

    @cached_property
    def counted_here(self) -> frozenset[str]:
        """What the target's design counts itself, and the source does not declare."""
        return kept_attributes(self.target) - self.source.attributes

    @cached_property
    def counted_back(self) -> frozenset[str]:
        return kept_attributes(self.source) - self.target.attributes

    def beside_kept(self, carried: Item, there: Item | None) -> Item:
        """An item with the numbers that are counted where it is stored."""
        if there is None:
            return carried
        rest = {name: wire for name, wire in carried.items() if name not in self.counted_here}
        return {**rest, **{name: there[name] for name in self.counted_here if name in there}}

    def _refuse_taken(self, rest: Item, made: Item) -> None:
        computed = self.target.attributes - self.target.by_attribute.keys()
        for name in sorted(rest.keys() & computed):
            if not same(made.get(name), rest[name]):
                raise MigrationError(
                    f"its attribute {name} is not declared by {self.source.name}, and is a key or "
                    f"the type of {self.target.name}; declare it, and handle it in the transform"
                )

    def _spelling_of(
        self, name: str, wire: Any, item: Item, was: Item, rest: Item, base: Item, there: Item
    ) -> Any:
        """A value in its former spelling, if it is the same value."""
        if name in self.target.table.schema.key_attributes:
            return wire
        if name in item and (same(was.get(name), wire) or name in rest):
            return item[name]
        former = next((old for old, new in self.renamed.items() if new == name), name)
        if former in item and same(was.get(former), wire):
            return item[former]
        if name in base and same(there.get(name), wire):
            return base[name]
        return wire


def kept_attributes(spec: EntitySpec) -> frozenset[str]:
    """The attributes whose values follow from other items."""
    design = spec.table.design
    design.complete()
    return frozenset(
        spec.fields[field].attribute
        for one in design.maintainers
        if one.follows.target == spec.name and one.follows.fact in ("amount", "best", "shown")
        for field in one.follows.writes
        if field in spec.fields
    )


def by_name(
    target: type[Entity],
    renamed: Mapping[str, str] | None = None,
    fill: Mapping[str, Callable[[dict[str, Any]], Any]] | None = None,
) -> Transform:
    """The transform that takes fields over by their names; `renamed` gives old names of new.

    `fill` computes fields that have no other source; None leaves one out.
    """
    names = {new: old for old, new in (renamed or {}).items()}

    def change(old: Entity) -> Entity:
        values = {}
        for name in target.__spec__.fields:
            given = names.get(name, name)
            if given in old.__dict__:
                values[name] = old.__dict__[given]
            elif fill is not None and name in fill:
                made = fill[name](dict(old.__dict__))
                values |= {} if made is None else {name: made}
        return target.model_validate(values, by_name=True, by_alias=False)

    return change
