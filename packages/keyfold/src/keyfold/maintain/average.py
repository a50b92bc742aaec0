"""Averages: a maintained sum and count, divided on read.

DynamoDB cannot divide in an update, so the quotient is not stored.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn, overload

from keyfold.design import codes
from keyfold.design.declaration import Declared, refuse
from keyfold.design.entity import Entity
from keyfold.maintain.counter import Counter

if TYPE_CHECKING:
    from typing import Self


class Average(Declared):
    """The mean of two counters: `rating = Average("stars", "reviews")`.

    The first field sums a value over items, the second counts the same items. The mean is None
    while nothing is counted.
    """

    def __init__(self, total: str, count: str) -> None:
        super().__init__()
        self.total, self.count = total, count

    def attach(self, entity: type[Entity]) -> None:
        marks = []
        for name in (self.total, self.count):
            field = entity.__spec__.fields.get(name)
            mark = None if field is None else field.mark(Counter)
            if mark is None:
                _refuse(f"{entity.__name__}.{name} is not a counter.")
            if mark.shards > 1:
                _refuse(f"{entity.__name__}.{name} is sharded, and known only by `total`.")
            marks.append(mark)
        summed, counted = marks
        if not summed.sums or counted.sums:
            _refuse(f"{self.total} must be a sum, and {self.count} a count.")
        same = (summed.of, summed.via, summed.sync) == (counted.of, counted.via, counted.sync)
        if not same or summed.where is not counted.where:
            _refuse(f"{self.total} and {self.count} are over different items.")

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Decimal | None: ...

    def __get__(self, instance: Any, owner: type) -> Self | Decimal | None:
        if instance is None:
            return self
        count = getattr(instance, self.count)
        return Decimal(getattr(instance, self.total)) / count if count else None


def _refuse(what: str) -> NoReturn:
    refuse(
        codes.MARKER_MISUSED,
        what,
        "Declare both over the same items: one with sums=, one without; give both the same "
        "function as where=.",
    )
