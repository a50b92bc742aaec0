"""The recount of one holder: its number and the items that it counts, as of one moment.

The items are read twice, and the number between the two. If both times they are the same, nothing
came or went in between, so the number was read while just these were there. Whoever counts from
then on changes both sides alike: what is missing is missing at any later moment, too.

An item that was deleted and made again as it was, all within the two reads, is not noticed by them.
It moves the number, which is therefore read before and after them as well. Changes of both whose
sums cancel within one recount are not noticed.
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
from keyfold.maintain.relation import Related
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.walk import again_after

ATTEMPTS: Final = 7
_PAGE: Final = 1_000


@dataclass(frozen=True)
class Recount:
    """What a holder's number is and what its items add up to, at one moment."""

    number: Decimal
    wanted: Decimal


@dataclass(frozen=True)
class CountedItems:
    """The items that a holder counts, found by one query, and what each of them adds."""

    related: Related
    field: str
    amount: Callable[[Any], Any]

    def recount(self, context: Context, holder: Ref[Any]) -> Flow[Recount | None]:
        """None where the holder is gone, or its items never stood still."""
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
                    return Recount(number, first[0])
            yield again_after(attempt)
        return None

    def _number(self, context: Context, holder: Ref[Any]) -> Flow[Decimal | None]:
        item = yield from raw(context, holder)
        if item is None:
            return None
        return Decimal(getattr(holder.entity.__spec__.decode(item), self.field) or 0)

    def _sum(self, context: Context, holder: Ref[Any]) -> Flow[tuple[Decimal, bytes]]:
        """What the items add up to, and a checksum of all that they hold."""
        total, checksum, place = Decimal(0), blake2b(digest_size=16), None
        while True:
            found, place = yield from self.related.page(context, holder, place, limit=_PAGE)
            for item in found:
                total += Decimal(self.amount(item))
                checksum.update(_content(item))
            if place is None:
                return total, checksum.digest()


def _content(item: Entity) -> bytes:
    return orjson.dumps(item.__spec__.encode(item), option=orjson.OPT_SORT_KEYS)
