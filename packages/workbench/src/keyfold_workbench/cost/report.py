"""The cost report: a bill as a document."""

from __future__ import annotations

from keyfold.review.docs.blocks import Block, Document, Grid, Paragraph, Section, Sentences
from keyfold_workbench.cost.amounts import money, number, percent, volume
from keyfold_workbench.cost.bill import WARM, Bill, HotKey, PathLine, PatternLine, WriteLine
from keyfold_workbench.cost.charge import Why


def document(bill: Bill) -> Document:
    """The report of a bill."""
    asked = bill.prices
    summary = (
        f"{bill.assumed}{money(bill.dollars)} a month on demand: "
        f"{money(bill.reads_dollars)} for reads, {money(bill.writes_dollars)} for writes, "
        f"{money(bill.storage_dollars)} for storage, "
        f"{money(bill.upkeep_dollars)} for everything else. "
        f"Provisioned for the peaks: {money(bill.provisioned_dollars)}; with auto scaling: "
        f"{money(bill.scaled_dollars)}. Prices of {asked.region}, {asked.as_of}."
    )
    sections = [
        Section("Access patterns", "patterns", tuple(_patterns(bill))),
        *([Section("Feeds", "feeds", tuple(_feeds(bill)))] if bill.feeds else []),
        Section("Writes", "writes", tuple(_writes(bill))),
        Section("Writes by purpose", "purposes", tuple(_purposes(bill))),
        Section("Tables and indexes", "paths", tuple(_paths(bill))),
        Section("Other costs", "beside", tuple(_other_costs(bill))),
        Section("Hot keys", "hot", tuple(_hot(bill))),
        Section("Assumed", "assumed", tuple(_assumptions(bill))),
    ]
    return Document(f"Cost of {bill.schema.name}", summary, tuple(sections))


def _patterns(bill: Bill) -> list[Block]:
    head = ("Pattern", "Reads", "Calls/s", "Units per call", "Requests", "Per month", "Share")
    rows = tuple(_pattern_row(line, bill) for line in bill.patterns)
    told = (
        f"{percent(bill.index_share)} of all reads go through an index; "
        f"{percent(bill.consistent_share)} can be consistent."
    )
    return [Paragraph(told), Grid(head, rows)]


def _pattern_row(line: PatternLine, bill: Bill) -> tuple[str, ...]:
    return (
        line.pattern.name,
        f"`{line.read.path}`" + (", consistent" if line.read.consistent else ""),
        number(line.rate.average),
        number(line.read.total),
        number(line.read.requests),
        money(line.dollars),
        percent(line.dollars / bill.dollars if bill.dollars else 0.0),
    )


def _feeds(bill: Bill) -> list[Block]:
    told = (
        "A page reads whom the reader follows, their flags, the reader's copies, and every source "
        "that is not flagged."
    )
    head = ("Feed", "Pages/s", "Units per page", "Requests", "Per month")
    rows = tuple(
        (
            line.feed.name,
            number(line.rate.average),
            number(line.page.units),
            number(line.page.requests),
            money(line.dollars),
        )
        for line in bill.feeds
    )
    return [Paragraph(told), Grid(head, rows)]


def _writes(bill: Bill) -> list[Block]:
    if not bill.writes:
        return [Paragraph("The workload states no writes.")]
    head = (
        "Write",
        "Calls/s",
        "Items",
        "Indexes",
        "Maintenance",
        "Units per call",
        "Reads",
        "Per month",
    )
    return [Grid(head, tuple(_write_row(line) for line in bill.writes))]


def _units(line: WriteLine, why: Why) -> float:
    parts = line.write.parts
    return sum(part.units for part in parts if part.why == why and not part.reading)


def _write_row(line: WriteLine) -> tuple[str, ...]:
    own, entries = _units(line, "item"), _units(line, "index")
    return (
        line.write.name,
        number(line.rate.average),
        number(own),
        number(entries),
        number(line.write.units - own - entries),
        number(line.write.units),
        number(line.write.read_units),
        money(line.dollars),
    )


PURPOSES: dict[Why, str] = {
    "item": "the items themselves",
    "index": "index entries",
    "copy": "copies",
    "counter": "counters",
    "unique": "markers of unique values",
    "cascade": "cascading deletes",
    "check": "condition checks",
    "copied field": "copied fields, updated from the stream",
    "processor": "processors",
    "outbox": "events, written and deleted",
    "processed marker": "markers of processed records",
    "request id": "request ids",
    "feed": "feeds: copies and flags",
}


def _purposes(bill: Bill) -> list[Block]:
    head = ("For", "Write units/s", "Read units/s", "Per month")
    rows = tuple(
        (PURPOSES[line.why], number(line.units), number(line.read_units), money(line.dollars))
        for line in bill.purposes
    )
    return [Grid(head, rows)] if rows else [Paragraph("The workload states no writes.")]


def _other_costs(bill: Bill) -> list[Block]:
    if not bill.upkeep:
        return [Paragraph("Nothing.")]
    head = ("What", "How much", "Per month")
    rows = tuple((line.name, line.amount, money(line.dollars)) for line in bill.upkeep)
    return [Grid(head, rows)]


def _paths(bill: Bill) -> list[Block]:
    head = (
        "Table or index",
        "Read units/s",
        "Write units/s",
        "Stored",
        "In a year",
        "On demand",
        "Provisioned",
        "Storage",
        "Serves",
    )
    rows = tuple(_path_row(line) for line in bill.paths)
    idle = [str(line.path) for line in bill.paths if line.path.index and not line.serves]
    blocks: list[Block] = [Grid(head, rows)]
    if idle:
        blocks.append(Paragraph(f"No pattern reads {', '.join(f'`{name}`' for name in idle)}."))
    return blocks


def _path_row(line: PathLine) -> tuple[str, ...]:
    return (
        f"`{line.path}`",
        number(line.read.average),
        number(line.written.average),
        volume(line.bytes),
        volume(line.bytes_later),
        money(line.on_demand),
        money(line.provisioned),
        money(line.storage),
        ", ".join(line.serves) or "nothing",
    )


def _hot(bill: Bill) -> list[Block]:
    warm = [hot for hot in bill.hot if hot.share >= WARM]
    if warm:
        told = "At their peaks, these keys are near or above the limit of one partition."
    else:
        told = "No key comes near the limit of one partition, even at its peak."
    head = ("Table or index", "Key", "Peak units/s", "Limit", "Used")
    rows = tuple(_hot_row(hot) for hot in bill.hot[:5])
    return [Paragraph(told), Grid(head, rows)] if rows else [Paragraph(told)]


def _hot_row(hot: HotKey) -> tuple[str, ...]:
    return (
        f"`{hot.path}`",
        f"`{hot.key}`",
        f"{number(hot.units)} {hot.kind}",
        f"{hot.limit:,}",
        percent(hot.share),
    )


def _assumptions(bill: Bill) -> list[Block]:
    if not bill.assumptions:
        return [Paragraph("None: the workload states every number that was used.")]
    told = "The workload does not state these figures. State them for an exact result."
    return [Paragraph(told), Sentences(bill.assumptions)]
