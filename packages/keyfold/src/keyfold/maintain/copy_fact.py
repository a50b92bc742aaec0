"""The fact of a pointer: an item with these values exists."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import PlanError
from keyfold.maintain.address import address_bytes, digest, digest_of, ref_bytes
from keyfold.maintain.fact import Address
from keyfold.runtime.changes import Add, Change, Set, clear
from keyfold.runtime.intent import Delete, Intent, Put, Update


@dataclass
class CopyFact:
    """An item with these values exists; `counted` ones move by amounts.

    It is built only when it is written.
    """

    entity: type[Entity]
    values: dict[str, Any]
    target: dict[str, Any]
    """Distinguishes it from the other copies of its canonical."""
    place: Hashable = ()
    """The canonical's part of its key."""
    counted: frozenset[str] = frozenset()
    alike: bool = False
    """The copy's values are the canonical's, unchanged."""
    literal: bool = True
    """Its key uses values unchanged, so different targets have different keys;
    `{reader:lower}` would map several to one.
    """

    @property
    def identity(self) -> Hashable:
        return tuple(self.target.values()) if self.literal else self.address

    @cached_property
    def item(self) -> Entity:
        made = self.entity(**self.values, **self.target)
        marked = made.__spec__.normalised_fields
        given = {name: form(value) for name, form in marked if (value := getattr(made, name))}
        return made.model_copy(update=given) if given else made

    @cached_property
    def as_stored(self) -> dict[str, Any]:
        """The values as the copy has them: its validators and marks may change them."""
        given = self.values | self.target
        return given if self.alike else {name: getattr(self.item, name) for name in given}

    @cached_property
    def ref(self) -> Ref[Any]:
        if not self.literal:
            return self.item.ref()
        values = self.values | self.target
        return Ref(self.entity, {name: values[name] for name in self.entity.__spec__.key.address})

    @property
    def address(self) -> Address:
        return self.ref.address

    @property
    def row(self) -> tuple[bytes, bytes]:
        if not (self.literal and self.alike):
            return ref_bytes(self.ref), digest(self.item)
        spec, values = self.entity.__spec__, self.values | self.target
        return address_bytes(spec.name, spec.key_of(values)), digest_of(spec, values)

    def join(self, other: CopyFact) -> CopyFact:
        if self.item != other.item:
            shown = " and ".join(repr(v) for one in (self, other) for v in one.target.values())
            raise PlanError(f"{shown} have the same key, {self.ref}: give only one of them")
        return self

    def make(self) -> Iterator[Intent]:
        yield Put(self.item, absent=False)

    def withdraw(self) -> Iterator[Intent]:
        yield Delete(self.ref)

    def change_from(self, before: CopyFact) -> Iterator[Intent]:
        if self.values == before.values and self.target == before.target:
            return
        spec = self.entity.__spec__
        now, then = self.as_stored, before.as_stored
        differing = {name for name, value in now.items() if then[name] != value}
        for placement in spec.placements.values():
            if placement.fields & differing:
                differing |= placement.fields.difference(spec.key.address)
        changes: dict[str, Change] = {}
        for name in sorted(differing & now.keys()):
            if name not in self.counted:
                changes[name] = _set(now[name])
            elif now[name] != then[name]:
                changes[name] = Add(now[name] - then[name])
        if changes:
            yield Update(self.ref, changes, counting=True, if_missing=self._new_item)

    def _new_item(self) -> Entity:
        return self.item

    def ensure(self) -> Intent:
        """The write that makes it hold whatever is stored; undeclared attributes are kept."""
        return Update(self.ref, dict(self._whole()), counting=True, if_missing="create")

    def _whole(self) -> Iterator[tuple[str, Change]]:
        own = self.entity.__spec__.key.address
        return ((name, _set(value)) for name, value in self.as_stored.items() if name not in own)


def _set(value: Any) -> Change:
    empty = value is None or (isinstance(value, set | frozenset) and not value)
    return clear if empty else Set(value)
