"""Facts: what must hold because an item exists, and the writes between two sets of them.

    copy     an item with these values exists
    amount   a number that the item adds to a field of another
    claim    a value that no other item has
    need     another item that must exist when this one is added to it
    shown    a value of another item that this one shows

They differ in how two facts at one address combine, and in how one is made, changed and withdrawn.
The difference needs nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol, cast

from keyfold.design.address import Ref
from keyfold.design.template import DELIMITER
from keyfold.maintain.address import (
    address_bytes,
    ref_bytes,
    value_digest,
    wire_bytes,
)
from keyfold.maintain.shards import AMOUNT, holder_text, shard_ref
from keyfold.runtime.changes import Add, negative, total
from keyfold.runtime.intent import Check, Intent, Marker, Update
from keyfold_engine.values.number import exact_sum

Number = int | float | Decimal
Address = tuple[str, str]


class Fact(Protocol):
    """One thing that must hold."""

    @property
    def identity(self) -> Hashable:
        """Distinguishes it from the other facts of its structure, without rendering a key."""
        ...

    @property
    def place(self) -> Hashable:
        """The values of its key: facts with equal identity and place have the same address."""
        ...

    @property
    def address(self) -> Address: ...

    @property
    def row(self) -> tuple[bytes, Any]:
        """Its address and compared value, as a verification records them."""
        ...

    def join(self, other: Any) -> Fact:
        """The combination of two facts of one item at one address."""
        ...

    def make(self) -> Iterator[Intent]:
        """The writes that make it hold."""
        ...

    def withdraw(self) -> Iterator[Intent]:
        """The writes that withdraw it."""
        ...

    def change_from(self, before: Any) -> Iterator[Intent]:
        """The writes that make it hold in place of another at its address."""
        ...


def difference(before: Iterable[Fact], after: Iterable[Fact]) -> Iterator[Intent]:
    """The writes that lead from one set of facts to another.

    Unmoved facts are matched by identity, and their keys are rendered only if they are written. The
    others are matched by address: two spellings of one key are one item.
    """
    old, new = {fact.identity: fact for fact in before}, by_identity(after)
    stay = {one for one, fact in new.items() if one in old and old[one].place == fact.place}
    left = {fact.address: fact for one, fact in old.items() if one not in stay}
    come = {fact.address for one, fact in new.items() if one not in stay} if left else set()
    for fact in sorted(left.values(), key=_order):
        if fact.address not in come:
            yield from fact.withdraw()
    for one in sorted(new, key=str):
        fact = new[one]
        if one in stay:
            yield from fact.change_from(old[one])
        elif left and fact.address in left:
            yield from fact.change_from(left[fact.address])
        else:
            yield from fact.make()


def by_identity(facts: Iterable[Fact]) -> dict[Hashable, Fact]:
    found: dict[Hashable, Fact] = {}
    for fact in facts:
        identity = fact.identity
        found[identity] = found[identity].join(fact) if identity in found else fact
    return found


def _order(fact: Fact) -> str:
    return str(fact.identity)


class PlainFact:
    """A fact whose identity is its place, that is said once by an item, and causes no write."""

    @property
    def place(self) -> Hashable:
        return ()

    def join(self, other: Any) -> Fact:  # noqa: ARG002
        return cast("Fact", self)

    def make(self) -> Iterator[Intent]:
        yield from ()

    def withdraw(self) -> Iterator[Intent]:
        yield from ()

    def change_from(self, before: Any) -> Iterator[Intent]:  # noqa: ARG002
        yield from ()


class ItemFact(PlainFact):
    """A plain fact about one other item."""

    ref: Ref[Any]

    @property
    def identity(self) -> Hashable:
        return tuple(self.ref.values.values())

    @property
    def address(self) -> Address:
        return self.ref.address


@dataclass
class AmountFact(ItemFact):
    """A number that an item adds to one field of another.

    With `creates` the first amount creates the holder. With `shards` it goes to one of several
    items, chosen at random each time, so that colliding writers separate.
    """

    ref: Ref[Any]
    """The item that holds the number."""
    field: str
    number: Number
    creates: bool = False
    shards: int = 1
    stamps: str = ""
    """The field of the holder that says when the number last moved."""

    @property
    def row(self) -> tuple[bytes, Decimal]:
        if self.shards > 1:
            return holder_text(self.ref).encode(), exact_sum([self.number])
        spec = self.ref.entity.__spec__
        return address_bytes(spec.name, spec.key_of(self.ref.values)), exact_sum([self.number])

    def join(self, other: AmountFact) -> AmountFact:
        return replace(self, number=total(self.number, other.number))

    def make(self) -> Iterator[Intent]:
        yield from self.add()

    def withdraw(self) -> Iterator[Intent]:
        yield from self._add(negative(self.number))

    def change_from(self, before: AmountFact) -> Iterator[Intent]:
        yield from self._add(total(self.number, negative(before.number)))

    def add(self) -> Iterator[Update]:
        return self._add(self.number)

    def _add(self, number: Number) -> Iterator[Update]:
        if not number:
            return
        if self.shards > 1:
            shard = shard_ref(self.ref, self.field, random.randrange(self.shards))
            yield Update(
                shard, {AMOUNT: Add(exact_sum([number]))}, counting=True, if_missing="create"
            )
            return
        yield Update(
            self.ref,
            {self.field: Add(number)},
            counting=True,
            if_missing="create" if self.creates else "skip" if number < 0 else "refuse",
            stamps=self.stamps,
        )


HOLDER = "holder"
MARKERS = f"UNIQUE{DELIMITER}"
"""The prefixes of marker keys."""


@dataclass(frozen=True)
class ClaimFact(PlainFact):
    """A value claimed by one owner; the marker item at `key` names it."""

    table: Any
    key: Mapping[str, Any]
    owner: Ref[Any]
    refusal: Callable[[Mapping[str, Any] | None], Exception] = field(compare=False)
    shared: bool = False
    """Another program writes such markers too, and names no holder in them."""

    @cached_property
    def identity(self) -> Hashable:
        return repr(list(self.key.values()))

    @property
    def address(self) -> Address:
        return self.table.name, str(self.identity)

    @property
    def row(self) -> tuple[bytes, bytes]:
        return wire_bytes(self.key), wire_bytes(self.owner.wire())

    @property
    def marker(self) -> dict[str, Any]:
        """The item that names the value's owner."""
        item = {**self.key, HOLDER: {"M": self.owner.wire()}}
        if self.table.schema.type_attribute is not None:
            item[self.table.schema.type_attribute] = {"S": "Unique"}
        return item

    def make(self) -> Iterator[Intent]:
        request = {
            "Item": self.marker,
            **self._condition(":holder"),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        yield Marker(self.table, "Put", request, self.refusal)

    def withdraw(self) -> Iterator[Intent]:
        condition = self._condition(":former")
        if self.shared:
            condition["ConditionExpression"] += " OR attribute_not_exists(#holder)"
        yield Marker(self.table, "Delete", {"Key": dict(self.key), **condition})

    def change_from(self, before: ClaimFact) -> Iterator[Intent]:
        if self.owner.values != before.owner.values:
            yield from self.make()

    def _condition(self, value: str) -> dict[str, Any]:
        return {
            "ConditionExpression": f"attribute_not_exists(#key) OR #holder = {value}",
            "ExpressionAttributeNames": {
                "#key": self.table.schema.partition,
                "#holder": HOLDER,
            },
            "ExpressionAttributeValues": {value: {"M": self.owner.wire()}},
        }


@dataclass(frozen=True)
class NeedFact(ItemFact):
    """Another item that must exist when this one is added to it."""

    ref: Ref[Any]

    @property
    def row(self) -> tuple[bytes, bytes]:
        return ref_bytes(self.ref), b""

    def make(self) -> Iterator[Intent]:
        yield Check(self.ref, lasting=True)


@dataclass(frozen=True)
class ShownFact(ItemFact):
    """A value of another item that this one shows; changes of that item are propagated here."""

    ref: Ref[Any]
    value: Any

    @property
    def row(self) -> tuple[bytes, bytes]:
        return ref_bytes(self.ref), value_digest(self.value)
