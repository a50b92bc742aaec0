"""How an entity grows: its items by month of creation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from keyfold.design.schema import AttributeSchema
from keyfold.review.draft.names import words

Item = Mapping[str, Mapping[str, object]]

FEWEST_ITEMS = 30
FEWEST_MONTHS = 4
_AVERAGED = 3
_BEGINNINGS = {"created", "placed", "joined", "opened", "posted", "sent", "started", "inserted"}


def growth(
    entity: str, attributes: Sequence[AttributeSchema], items: Sequence[Item], *, complete: bool
) -> str:
    """A sentence about growth by month; empty if there are too few months."""
    attribute = _beginning(attributes, items)
    months = [*_months(attribute, items)] if attribute is not None else []
    if attribute is None or len(months) < FEWEST_ITEMS:
        return ""
    span = range(min(months), max(months) + 1)
    if len(span) < FEWEST_MONTHS:
        return ""
    counted = Counter(months)
    # The last month is incomplete.
    *whole, last = span
    early = sum(counted[month] for month in whole[:_AVERAGED]) / _AVERAGED
    late = sum(counted[month] for month in whole[-_AVERAGED:]) / _AVERAGED
    among = "" if complete else " of the sample"
    return (
        f"{entity}: by {attribute.field}, from {_month_text(whole[0])} to {_month_text(last)}, "
        f"{early:,.0f} items{among} a month at the beginning and {late:,.0f} at the end."
    )


def _beginning(
    attributes: Sequence[AttributeSchema], items: Sequence[Item]
) -> AttributeSchema | None:
    """The time attribute of all items that is most likely their creation time."""
    times = [
        one
        for one in attributes
        if one.type in ("timestamp", "date") and all(one.name in item for item in items)
    ]
    named = [one for one in times if _BEGINNINGS & {*words(one.field)}]
    return next(iter(named or times), None)


def _months(attribute: AttributeSchema, items: Sequence[Item]) -> Iterator[int]:
    for item in items:
        text = str(next(iter(item[attribute.name].values())))
        moment = _moment(attribute.stored, text)
        yield moment.year * 12 + moment.month - 1


def _moment(stored: str, text: str) -> datetime:
    if stored.startswith("epoch"):
        return datetime.fromtimestamp(int(text) / (1000 if stored == "epoch_ms" else 1), UTC)
    return datetime.fromisoformat(text)


def _month_text(month: int) -> str:
    return f"{month // 12}-{month % 12 + 1:02d}"
