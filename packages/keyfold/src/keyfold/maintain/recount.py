"""Recounts one holder: its number and the items it counts, at one moment.

The items are read twice, and the number in between. If both reads agree, nothing came or went, so
the number was read while exactly these items existed. Later counting changes both sides alike, so
the difference stays valid.

An item that is deleted and created again unchanged between the two reads goes unnoticed by them,
but it moves the number, which is therefore also read before and after. Changes of both that cancel
out within one recount go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final

import orjson

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.maintain.address import raw
from keyfold.maintain.related import Related
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.walk import again_after
from keyfold_engine.values.number import exact_sum

ATTEMPTS: Final = 7
_PAGE: Final = 1_000


@dataclass(frozen=True)
class Recount:
    """A holder's number and the sum over its items, at one moment."""

    number: Decimal
    wanted: Decimal


@dataclass(frozen=True)
class CountedItems:
    """The items that a holder counts, found by one query, and what each adds."""

    related: Related
    field: str
    amount: Callable[[Any], Any]

    def recount(self, context: Context, holder: Ref[Any]) -> Flow[Recount | None]:
        """None if the holder is gone or its items kept changing."""
        for attempt in range(ATTEMPTS):
            before = yield from self._number(context, holder)
            first = yield from self._sum(context, holder)
            number = yield from self._number(context, holder)
            if number is None:
                return None
            if before == number:
                second = yield from self._sum(context, holder)
                after = yield from self._number(context, holder)
                if first == second and number == after:
                    return Recount(number, self._as_field(holder, first[0]))
            yield again_after(attempt)
        return None

    def _number(self, context: Context, holder: Ref[Any]) -> Flow[Decimal | None]:
        item = yield from raw(context, holder)
        if item is None:
            return None
        return exact_sum([getattr(holder.entity.__spec__.decode(item), self.field) or 0])

    def _as_field(self, holder: Ref[Any], number: Decimal) -> Decimal:
        """The number as the holder's field shows it: a float has fewer digits than a sum."""
        kind = holder.entity.__spec__.fields[self.field].kind
        return exact_sum([float(number)]) if kind == "float" else number

    def _sum(self, context: Context, holder: Ref[Any]) -> Flow[tuple[Decimal, bytes]]:
        """The sum over the items, and a checksum of their contents."""
        total, checksum, place = Decimal(0), blake2b(digest_size=16), None
        while True:
            found, place = yield from self.related.page(context, holder, place, limit=_PAGE)
            total = exact_sum([total, *map(self.amount, found)])
            for item in found:
                checksum.update(_content(item))
            if place is None:
                return total, checksum.digest()


def _content(item: Entity) -> bytes:
    return orjson.dumps(item.__spec__.encode(item), option=orjson.OPT_SORT_KEYS)
