"""The result as a document and as data: what breaks first, and what fixes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from keyfold.review.docs.blocks import Block, Document, Grid, Paragraph, Section, Sentences
from keyfold_engine.limits import GB
from keyfold_workbench.cost.amounts import money, number, percent
from keyfold_workbench.simulate.answer.prediction import Prediction
from keyfold_workbench.simulate.load.schedule import DAY
from keyfold_workbench.simulate.outcome import FirstThrottle

SHOWN = 15


def document(answer: Prediction) -> Document:
    """The page of a prediction."""
    name = answer.load.schema.name
    title = f"{name} at {people(answer.users)} users" if answer.users else f"{name} under load"
    sections = [
        Section("What throttles first", "first", tuple(_firsts(answer))),
        Section("Copies and indexes", "copies", tuple(_copies(answer))),
        Section("Cost", "cost", tuple(_cost(answer))),
        Section("Partitions", "partitions", tuple(_partitions(answer))),
        Section("Assumed", "assumed", (Sentences(_assumptions(answer)),)),
    ]
    return Document(title, _summary(answer), tuple(sections))


def people(users: float) -> str:
    exponent = len(f"{users:.0f}") - 1
    whole = users == 10**exponent and exponent >= 3
    return f"10^{exponent}" if whole else f"{users:,.0f}"


def moment(at: float) -> str:
    day, rest = divmod(at, DAY)
    return f"day {day:.0f}, {int(rest // 3600):02d}:{int(rest % 3600 // 60):02d}"


def why(first: FirstThrottle) -> str:
    """One sentence about a throttle."""
    through = f"`{first.place}`"
    if first.reason == "key range":
        key = f"key `{first.key}`" if first.key else "one partition, by many keys"
        said = f"{key} gets {number(first.wanted)} of {number(first.limit)} units a second"
    else:
        said = f"{number(first.wanted)} of {number(first.limit)} provisioned units a second"
    back = f"; it throttles `{first.store}`" if first.through else ""
    return f"{moment(first.at)}: {first.kind}s of {through}: {said}{back}."


def _summary(answer: Prediction) -> str:
    first = answer.outcome.first
    days = answer.outcome.seconds / DAY
    time = "a day" if days == 1 else f"{days:g} days"
    cost = f"{money(answer.cost.total)} a month."
    if first is None:
        return f"{answer.load.bill.assumed}Nothing is throttled in {time}. {cost}"
    return (
        f"{answer.load.bill.assumed}First throttle: {why(first)} "
        f"{percent(answer.outcome.lost_share)} of all calls fail in {time}. {cost}"
    )


def _firsts(answer: Prediction) -> list[Block]:
    found = sorted(answer.outcome.firsts, key=lambda each: each.at)
    if not found:
        busiest = "No partition, table or index throttles."
        return [Paragraph(busiest), *_quotas(answer)]
    head = ("When", "Where", "What", "Reason", "Key", "Demand/s", "Limit/s", "By")
    rows = tuple(
        (
            moment(each.at),
            f"`{each.place}`",
            each.kind,
            each.reason,
            f"`{each.key}`" if each.key else "many",
            number(each.wanted),
            number(each.limit),
            ", ".join(each.calls),
        )
        for each in found[:SHOWN]
    )
    return [Grid(head, rows), *_lost_calls(answer), *_contentions(answer), *_quotas(answer)]


def _lost_calls(answer: Prediction) -> list[Block]:
    worst = sorted(answer.outcome.calls.items(), key=lambda each: -each[1].lost_share)
    rows = tuple(
        (
            call,
            number(seen.calls),
            percent(seen.lost_share),
            number(seen.throttled_seconds / 3600),
            moment(seen.worst_at),
        )
        for call, seen in worst[:SHOWN]
        if seen.lost_share > 0.0001
    )
    head = ("Call", "Calls", "Failed", "Hours with refusals", "Worst at")
    return [Grid(head, rows)] if rows else []


def _contentions(answer: Prediction) -> list[Block]:
    rows = tuple(
        (call, f"`{seen.key}`", number(seen.rate), percent(seen.cancelled), moment(seen.at))
        for call, seen in answer.outcome.contentions.items()
        if seen.cancelled > 0.001
    )
    head = ("Transaction", "Item", "Per second", "Cancelled at worst", "When")
    return [Grid(head, rows)] if rows else []


def _quotas(answer: Prediction) -> list[Block]:
    if not answer.quotas:
        return []
    told = (
        "AWS gives 40,000 units a second to a table or index unless asked for more. The run "
        "assumes that these were granted before:"
    )
    rows = tuple(
        (f"`{each.store}`", each.kind, number(each.units))
        for each in sorted(answer.quotas, key=lambda each: -each.units)
    )
    return [Paragraph(told), Grid(("Table or index", "What", "Peak units/s"), rows)]


def _copies(answer: Prediction) -> list[Block]:
    head = ("What", "Usually behind", "At worst", "Lost records")
    rows = tuple(
        (each.what, _duration(each.usual), _duration(each.worst), number(each.lost))
        for each in answer.copying
    )
    return [Grid(head, rows)] if rows else [Paragraph("No index or stream.")]


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _cost(answer: Prediction) -> list[Block]:
    cost = answer.cost
    told = (
        f"{money(cost.total)} a month: {money(cost.reads)} for reads, {money(cost.writes)} for "
        f"writes, {money(cost.storage)} for storage at the end, {money(cost.beside)} "
        f"for everything else. Refused requests are not charged. `keyfold cost` breaks the "
        "cost down by call."
    )
    return [Paragraph(told)]


def _partitions(answer: Prediction) -> list[Block]:
    head = ("Table or index", "Partitions", "Splits", "Stored", "Hottest partition", "By")
    rows = tuple(
        (
            f"`{store}`",
            number(seen.partitions),
            number(seen.splits),
            f"{number(seen.bytes / GB)} GB",
            percent(seen.hottest) if seen.hottest else "below its limit",
            f"`{seen.hottest_key}`" if seen.hottest_key else "",
        )
        for store, seen in answer.outcome.stores.items()
    )
    return [Grid(head, rows)]


def _assumptions(answer: Prediction) -> tuple[str, ...]:
    unpublished = (f"`{name}` is {value}" for name, value in asdict(answer.assumptions).items())
    return (*answer.load.model.assumed, *unpublished)


def as_json(answer: Prediction) -> dict[str, Any]:
    """The result as data."""
    seen = answer.outcome
    return {
        "design": answer.load.schema.name,
        "users": answer.users,
        "seconds": seen.seconds,
        "lost_share": seen.lost_share,
        "first_throttles": [
            {
                "at": each.at,
                "store": str(each.store),
                "place": str(each.place),
                "kind": each.kind,
                "reason": each.reason,
                "key": each.key,
                "wanted": each.wanted,
                "limit": each.limit,
                "partitions": each.partitions,
                "calls": list(each.calls),
            }
            for each in sorted(seen.firsts, key=lambda each: each.at)
        ],
        "calls": {name: asdict(each) for name, each in seen.calls.items()},
        "stores": {str(store): asdict(each) for store, each in seen.stores.items()},
        "streams": {name: asdict(each) for name, each in seen.queues.items()},
        "transactions": {name: asdict(each) for name, each in seen.contentions.items()},
        "copies": [asdict(each) for each in answer.copying],
        "dollars": {**asdict(answer.cost), "total": answer.cost.total},
        "quotas": [
            {"store": str(each.store), "kind": each.kind, "units": each.units}
            for each in answer.quotas
        ],
        "assumptions": asdict(answer.assumptions),
    }
