"""Expert advice besides keys: items in place of growing lists, copies in place of fetched rows."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.prices import SECONDS_A_MONTH
from keyfold.review.check.reach import GROWING
from keyfold_engine.limits import ITEM_BYTES
from keyfold_engine.values.units import write_units
from keyfold_workbench.cost.amounts import money, number
from keyfold_workbench.cost.bill import Bill
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import Workload

ELEMENT = 40
"""Bytes of an id in a list or set."""


def suggestions(bill: Bill, workload: Workload) -> tuple[str, ...]:
    """Sentences, those with dollars in them first."""
    figures = DesignNumbers(bill.schema, workload)
    return (*_row_fetches(bill), *_lists(bill, figures))


def _row_fetches(bill: Bill) -> Iterator[str]:
    """Lists whose rows are fetched one by one."""
    for line in bill.patterns:
        if not line.read.fetched:
            continue
        dollars = bill.prices.read * line.read.fetched * line.rate.average * SECONDS_A_MONTH / 1e6
        given = ", ".join(line.pattern.returns) or "what the index does not project"
        yield (
            f"{line.pattern.name} reads {given} again for each row, {money(dollars)} a month: keep "
            "what the list shows on its rows (a pointer), or include it in the index."
        )


def _lists(bill: Bill, figures: DesignNumbers) -> Iterator[str]:
    """Lists and sets that grow without bound."""
    for entity in bill.schema.entities:
        for attribute in entity.attributes:
            if attribute.type not in GROWING or not attribute.refers or not attribute.mutable:
                continue
            most = attribute.max_items
            if most is not None and most * ELEMENT < ITEM_BYTES / 10:
                continue
            held = f"up to {most:,} elements" if most else "elements without a bound"
            size = figures.item_bytes(entity) + (most or ITEM_BYTES // ELEMENT) * ELEMENT
            units = write_units(min(size, ITEM_BYTES))
            yield (
                f"{entity.name}.{attribute.field} holds {held}: keep one item for each "
                f"{attribute.refers}. An update writes 1 unit then; a full item takes "
                f"{number(units)}."
            )
