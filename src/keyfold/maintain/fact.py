"""Facts: what must hold because an item exists, and the writes between two sets of them.

    copy     an item with these values is there
    amount   a number that the item adds to a field of another
    claim    a value that nobody else has
    need     another item that is there when this one comes to it
    shown    a value of another item that this one shows

They differ in what two of them at one address are together, and in how one is made, changed and
taken back. The difference asks for no more than that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

from keyfold.design.address import Ref
from keyfold.design.template import DELIMITER
from keyfold.maintain.address import (
    ref_bytes,
    value_digest,
    wire_bytes,
)
from keyfold.maintain.shards import AMOUNT, holder_text, shard_ref
from keyfold.runtime.changes import Add
from keyfold.runtime.intent import Check, Intent, Marker, Update

Number = int | float | Decimal
Address = tuple[str, str]


class Fact(Protocol):
    """One thing that must hold."""

    @property
    def identity(self) -> Hashable:
        """What tells it from the other facts of its structure; no key is rendered for it."""
        ...

    @property
    def place(self) -> Hashable:
        """The values of its key: facts with one identity and one place are at one address."""
        ...

    @property
    def address(self) -> Address: ...

    @property
    def row(self) -> tuple[bytes, bytes | Decimal]:
        """Its address, and what is compared there: a verification notes it down."""
        ...

    def join(self, other: Any) -> Fact:
        """Both of them, which one item says about one address."""
        ...

    def make(self) -> Iterator[Intent]:
        """The writes that make it hold."""
        ...

    def withdraw(self) -> Iterator[Intent]:
        """The writes after which it does not hold any more."""
        ...

    def change_from(self, before: Any) -> Iterator[Intent]:
        """The writes that make it hold where another held at its address."""
        ...


def difference(before: Iterable[Fact], after: Iterable[Fact]) -> Iterator[Intent]:
    """The writes that lead from one set of facts to another.

    Those that stay where they are meet by identity, and their keys are rendered only if they are
    written. The others meet by address: two spellings of one key are one item.
    """
    old, new = {fact.identity: fact for fact in before}, by_identity(after)
    stay = {one for one, fact in new.items() if one in old and old[one].place == fact.place}
    left = {fact.address: fact for one, fact in old.items() if one not in stay}
    come = {fact.address for one, fact in new.items() if one not in stay} if left else set()
    for fact in sorted(left.values(), key=_order):
        if fact.address not in come:
            yield from fact.withdraw()
    for fact in sorted(new.values(), key=_order):
        if fact.identity in stay:
            yield from fact.change_from(old[fact.identity])
        elif left and fact.address in left:
            yield from fact.change_from(left[fact.address])
        else:
            yield from fact.make()


def by_identity(facts: Iterable[Fact]) -> dict[Hashable, Fact]:
    found: dict[Hashable, Fact] = {}
    for fact in facts:
        known = found.get(fact.identity)
        found[fact.identity] = fact if known is None else known.join(fact)
    return found


def _order(fact: Fact) -> str:
    return str(fact.identity)


def address_of(ref: Ref[Any]) -> Address:
    """Table and rendered key: two spellings of one key are one address."""
    wire, table = ref.wire(), ref.entity.__table__
    return table.name, repr([wire[name] for name in table.schema.key_attributes])


@dataclass(frozen=True)
class AmountFact:
    """A number that an item adds to one field of another.

    `creates` lets the first amount make the holder. With `shards` it goes to one of several items
    instead, drawn by lot each time, so that writers who met once part ways.
    """

    holder: Ref[Any]
    field: str
    number: Number
    creates: bool = False
    shards: int = 1

    @cached_property
    def identity(self) -> Hashable:
        return tuple(self.holder.values.values())

    @property
    def place(self) -> Hashable:
        return ()

    @cached_property
    def address(self) -> Address:
        return address_of(self.holder)

    @property
    def row(self) -> tuple[bytes, Decimal]:
        return holder_text(self.holder).encode(), Decimal(self.number)

    def join(self, other: AmountFact) -> AmountFact:
        return replace(self, number=self.number + other.number)  # type: ignore[operator]

    def make(self) -> Iterator[Intent]:
        yield from self.add()

    def withdraw(self) -> Iterator[Intent]:
        yield from self._add(-self.number)

    def change_from(self, before: AmountFact) -> Iterator[Intent]:
        yield from self._add(self.number - before.number)  # type: ignore[operator]

    def add(self) -> Iterator[Update]:
        return self._add(self.number)

    def _add(self, number: Number) -> Iterator[Update]:
        if not number:
            return
        if self.shards > 1:
            shard = shard_ref(self.holder, self.field, random.randrange(self.shards))
            yield Update(shard, {AMOUNT: Add(Decimal(number))}, counting=True, upsert=True)
            return
        yield Update(
            self.holder,
            {self.field: Add(number)},
            counting=True,
            upsert=self.creates,
            lenient=number < 0 and not self.creates,
        )


HOLDER = "holder"
MARKERS = f"UNIQUE{DELIMITER}"
"""How the keys of markers begin."""


@dataclass(frozen=True)
class ClaimFact:
    """A value that one owner has; the marker item at `key` says who."""

    table: Any
    key: Mapping[str, Any]
    owner: Ref[Any]
    refusal: Callable[[Mapping[str, Any] | None], Exception] = field(compare=False)

    @cached_property
    def identity(self) -> Hashable:
        return repr(list(self.key.values()))

    @property
    def place(self) -> Hashable:
        return ()

    @property
    def address(self) -> Address:
        return self.table.name, str(self.identity)

    @property
    def row(self) -> tuple[bytes, bytes]:
        return wire_bytes(self.key), wire_bytes(self.owner.wire())

    def join(self, other: ClaimFact) -> ClaimFact:  # noqa: ARG002 - one item owns both
        return self

    @property
    def marker(self) -> dict[str, Any]:
        """The item that says who has the value."""
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
        yield Marker(self.table, "Delete", {"Key": dict(self.key), **self._condition(":former")})

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
class NeedFact:
    """Another item that must be there when this one comes to it."""

    ref: Ref[Any]

    @property
    def identity(self) -> Hashable:
        return tuple(self.ref.values.values())

    @property
    def place(self) -> Hashable:
        return ()

    @cached_property
    def address(self) -> Address:
        return address_of(self.ref)

    @property
    def row(self) -> tuple[bytes, bytes]:
        return ref_bytes(self.ref), b""

    def join(self, other: NeedFact) -> NeedFact:  # noqa: ARG002 - one check serves both
        return self

    def make(self) -> Iterator[Intent]:
        yield Check(self.ref, lasting=True)

    def withdraw(self) -> Iterator[Intent]:
        yield from ()

    def change_from(self, before: NeedFact) -> Iterator[Intent]:  # noqa: ARG002 - it still is there
        yield from ()


@dataclass(frozen=True)
class ShownFact:
    """A value of another item that this one shows: whoever changes that one brings it here."""

    origin: Ref[Any]
    value: Any

    @property
    def identity(self) -> Hashable:
        return tuple(self.origin.values.values())

    @property
    def place(self) -> Hashable:
        return ()

    @cached_property
    def address(self) -> Address:
        return address_of(self.origin)

    @property
    def row(self) -> tuple[bytes, bytes]:
        return ref_bytes(self.origin), value_digest(self.value)

    def join(self, other: ShownFact) -> ShownFact:  # noqa: ARG002 - an item shows one value
        return self

    def make(self) -> Iterator[Intent]:
        yield from ()

    def withdraw(self) -> Iterator[Intent]:
        yield from ()

    def change_from(self, before: ShownFact) -> Iterator[Intent]:  # noqa: ARG002
        yield from ()
