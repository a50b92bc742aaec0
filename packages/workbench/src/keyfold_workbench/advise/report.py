"""The adviser's report, in the form of a table analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from keyfold.design.schema import PatternSchema, Schema, TableSchema
from keyfold.review.docs.blocks import (
    Block,
    Document,
    Heading,
    Paragraph,
    Section,
    Sentences,
    anchor,
)
from keyfold.review.docs.blocks import Grid as Rows
from keyfold_workbench.advise import recommendation
from keyfold_workbench.advise.advice import Advice, Alternative
from keyfold_workbench.advise.differences import lost_reads
from keyfold_workbench.cost.amounts import money, number, percent
from keyfold_workbench.cost.bill import WARM, Bill, PatternLine


def document(advice: Advice, chosen: Alternative | None = None) -> Document:
    """The report about one alternative, by default the best."""
    after = chosen or advice.best
    before = advice.before
    sections = [
        *_comparison(before, after),
        *(
            Section(table.name, anchor("table", table.name), tuple(_table(advice, after, table)))
            for table in before.schema.tables
        ),
        *(
            [Section("Beside keys", "beside", (Sentences(advice.suggestions),))]
            if advice.suggestions
            else []
        ),
        Section("Alternatives", "alternatives", tuple(_alternatives(advice, after))),
        Section("Assumed", "assumed", tuple(_assumption_blocks(advice))),
    ]
    return Document(f"Advice for {before.schema.name}", _summary(advice, after), tuple(sections))


def _comparison(before: Alternative, after: Alternative) -> Iterator[Section]:
    if after.name == before.name:
        rows = tuple((name, show(now)) for name, now, _, show in _measures(before, before))
        yield Section("Today", "today", (Rows(("Measure", "Now"), rows),))
        return
    yield Section("Before and after", "before-after", tuple(_before_after(before, after)))
    yield Section("What gets worse", "worse", tuple(_list_blocks(after.losses, "Nothing.")))
    yield Section("What gets better", "better", tuple(_list_blocks(after.gains, "Nothing.")))


def _summary(advice: Advice, after: Alternative) -> str:
    before = advice.before
    if after.name == before.name:
        return f"{before.bill.assumed}Keep the keys and indexes. {' '.join(_reasons(advice))}"
    a, b = before.bill, after.bill
    return (
        f"{a.assumed}**{after.name}**: {after.aim}. "
        f"Reads through an index {_from_to(percent(a.index_share), percent(b.index_share))}, "
        f"dollars a month {_from_to(money(before.dollars), money(after.dollars))}, "
        f"indexes {_from_to(str(a.indexes), str(b.indexes))}. {_move_words(after)} "
        "Every access pattern is still served; the reviewer's reasoning about keys proves it."
    )


def _reasons(advice: Advice) -> Iterator[str]:
    """Why nothing is moved."""
    bill = advice.before.bill
    scanned = [line.pattern.name for line in bill.patterns if line.pattern.partition is None]
    if scanned:
        yield (
            f"{', '.join(scanned)} reads everything. No index lists these items for less. If only "
            "some are wanted, state the parameters or a filter, and run advise again."
        )
    else:
        yield "Each access pattern is served by a key."
    hot = _hot(bill)
    warm = "1 key is near its limit" if hot == 1 else f"{hot} keys are near their limit"
    yield "No key comes near its limit." if not hot else f"{warm}: see below."
    others = [each for each in advice.alternatives if each is not advice.before and each.name]
    others = [each for each in others if each.name != advice.before.name]
    if not others:
        yield "No other keys serve the same patterns better."
        return
    yield _nearest(advice, others[0])


def _nearest(advice: Advice, other: Alternative) -> str:
    """The changes of the next best design, and the cost of the move."""
    before = advice.before
    change = other.dollars - before.dollars
    dollars = f"{money(abs(change))} a month {'less' if change < 0 else 'more'}"
    shares = _from_to(percent(before.bill.index_share), percent(other.bill.index_share))
    return (
        f"The next best, **{other.name}**, costs {dollars}: reads through an index {shares}, "
        f"indexes {_from_to(str(before.bill.indexes), str(other.bill.indexes))}, kinds of copies "
        f"{_from_to(str(before.bill.copies), str(other.bill.copies))}. {_move_words(other)}"
    )


def _move_words(other: Alternative) -> str:
    """What must be rewritten, and when that has paid for itself."""
    if not other.moved.items:
        return "Nothing has to be moved."
    once = (
        f"{number(other.moved.items)} items ({', '.join(other.moved.entities)}) are rewritten "
        f"for {money(other.moved.dollars)}"
    )
    if other.payback is None:
        return f"{once}, which the savings do not pay back."
    if other.payback < 0.1:
        return f"{once}, which pays for itself within days."
    return f"{once}, which pays for itself in {other.payback:.1f} months."


def _from_to(old: str, new: str) -> str:
    return f"stay at {old}" if old == new else f"go from {old} to {new}"


def _before_after(before: Alternative, after: Alternative) -> Iterator[Block]:
    rows = tuple(
        (name, show(a), show(b), _change(a, b, show))
        for name, a, b, show in _measures(before, after)
    )
    yield Rows(("Measure", "Before", "After", "Change"), rows)


def _measures(
    before: Alternative, after: Alternative
) -> Iterator[tuple[str, float, float, Callable[[float], str]]]:
    a, b = before.bill, after.bill
    yield "Tables", len(before.schema.tables), len(after.schema.tables), number
    yield "Indexes", a.indexes, b.indexes, number
    yield "Kinds of copies", a.copies, b.copies, number
    yield "Reads through an index", a.index_share, b.index_share, percent
    yield "Reads that can be consistent", a.consistent_share, b.consistent_share, percent
    yield "Patterns that stop being consistent", 0, len(list(lost_reads(a, b))), number
    yield "Requests a second, for reads", a.requests, b.requests, number
    yield "Read units a second", _read_units(a), _read_units(b), number
    yield "Write units a second", _write_units(a), _write_units(b), number
    yield "Dollars a month, on demand", before.dollars, after.dollars, money
    yield "of these: reads", a.reads_dollars, b.reads_dollars, money
    yield "of these: finding a key before a write", before.located, after.located, money
    yield "of these: writes", a.writes_dollars, b.writes_dollars, money
    yield "of these: storage", a.storage_dollars, b.storage_dollars, money
    yield "of these: recovery, backups", a.upkeep_dollars, b.upkeep_dollars, money
    yield "Dollars a month, provisioned", a.provisioned_dollars, b.provisioned_dollars, money
    yield "Hot keys", _hot(a), _hot(b), number


def _read_units(bill: Bill) -> float:
    return sum(line.units for line in bill.patterns)


def _write_units(bill: Bill) -> float:
    return sum(line.units for line in bill.writes)


def _hot(bill: Bill) -> int:
    return sum(1 for hot in bill.hot if hot.share >= WARM)


def _change(old: float, new: float, show: Callable[[float], str]) -> str:
    sign = "+" if new > old else "-"
    if abs(new - old) < 1e-9:
        return "none"
    if show is percent:
        return f"{sign}{abs(new - old) * 100:.0f} points"
    if show is money and abs(new - old) < 0.005:
        return show(abs(new - old))
    whole = float(old).is_integer() and float(new).is_integer()
    if whole or not old:
        return f"{sign}{show(abs(new - old))}"
    share = (new - old) / old
    return f"{share:+.1%}" if abs(share) >= 0.0005 else "under 0.1%"


def _list_blocks(sentences: tuple[str, ...], nothing: str) -> Iterator[Block]:
    if not sentences:
        yield Paragraph(nothing)
        return
    yield Sentences(sentences)


def _table(advice: Advice, after: Alternative, table: TableSchema) -> Iterator[Block]:
    before = advice.before
    yield Heading("Current design", anchor(table.name, "current"))
    yield Rows(("Item", "Key", "In indexes"), tuple(_keys(before.schema, table)))
    yield Heading("Access patterns", anchor(table.name, "patterns"))
    lines = [x for x in before.bill.patterns if x.pattern.table == table.name]
    total = sum(line.rate.average for line in lines)
    lines.sort(key=lambda line: -line.rate.average)
    now = {line.pattern.name: line for line in after.bill.patterns}
    rows = tuple(
        (
            line.pattern.name,
            percent(line.rate.average / total if total else 0.0),
            f"`{line.read.path}`",
            _path_words(line.pattern, now[line.pattern.name]),
        )
        for line in lines
    )
    yield Rows(("Pattern", "Share", "Served now by", "Then by"), rows)
    if lines and total:
        top = lines[0]
        where = f"the index {top.read.path.index}" if top.by_index else "the table's own key"
        indexed = sum(line.rate.average for line in lines if line.by_index) / total
        yield Paragraph(
            f"{top.pattern.name} dominates with {percent(top.rate.average / total)} of the reads, "
            f"and {where} serves it. {percent(indexed)} of this table's reads go through an index."
        )
    yield Heading("Recommendation", anchor(table.name, "recommendation"))
    found = recommendation.for_table(before, after, table)
    yield Rows(("Do", "What"), tuple((f"**{each.verb}**", each.words) for each in found))


def _path_words(old: PatternSchema, new: PatternLine) -> str:
    """Where a pattern is read from; names copies."""
    path = f"`{new.read.path}`"
    other = [name for name in new.pattern.entities if name not in old.entities]
    return f"{path}, {', '.join(other)}" if other else path


def _keys(schema: Schema, table: TableSchema) -> Iterator[tuple[str, ...]]:
    for entity in schema.entities_of(table.name):
        placed = ", ".join(f"{p.index} `{p.key}`" for p in entity.placements)
        yield entity.name, f"`{entity.key}`" if entity.key else "none", placed or "none"


def _alternatives(advice: Advice, chosen: Alternative) -> Iterator[Block]:
    yield Paragraph(
        "All of these serve every pattern. They are ranked by monthly cost, with an added weight "
        "for stale reads, lost consistency, and copies and indexes to maintain."
    )
    head = (
        "Alternative",
        "Aim",
        "Score",
        "Per month",
        "Tables",
        "Indexes",
        "Copies",
        "By index",
        "Lost consistent",
    )
    rows = tuple(
        (
            f"**{each.name}**" if each is chosen else each.name,
            each.aim,
            number(each.score),
            money(each.dollars),
            str(len(each.schema.tables)),
            str(each.bill.indexes),
            str(each.bill.copies),
            percent(each.bill.index_share),
            str(len(list(lost_reads(advice.before.bill, each.bill)))),
        )
        for each in advice.alternatives
    )
    yield Rows(head, rows)


def _assumptions(advice: Advice) -> tuple[str, ...]:
    searched = advice.search.figures.assumptions
    return tuple(dict.fromkeys((*advice.before.bill.assumptions, *searched)))


def _assumption_blocks(advice: Advice) -> Iterator[Block]:
    found = _assumptions(advice)
    if not found:
        yield Paragraph("None: the workload states every number that was used.")
        return
    yield Sentences(found)


def as_json(advice: Advice, chosen: Alternative | None = None) -> dict[str, Any]:
    """The advice as data."""
    after = chosen or advice.best
    before = advice.before
    return {
        "design": before.schema.name,
        "chosen": after.name,
        "measures": [
            {"name": name, "before": old, "after": new}
            for name, old, new, _ in _measures(before, after)
        ],
        "tables": {
            table.name: [
                {"verb": each.verb, "words": each.words}
                for each in recommendation.for_table(before, after, table)
            ]
            for table in before.schema.tables
        },
        "moved_items": after.moved.items,
        "move_dollars": after.moved.dollars,
        "payback_months": after.payback,
        "suggestions": list(advice.suggestions),
        "gains": list(after.gains),
        "regressions": list(after.losses),
        "alternatives": [
            {
                "name": each.name,
                "aim": each.aim,
                "score": each.score,
                "dollars": each.dollars,
                "tables": len(each.schema.tables),
                "indexes": each.bill.indexes,
                "copies": each.bill.copies,
                "index_share": each.bill.index_share,
                "consistent_share": each.bill.consistent_share,
            }
            for each in advice.alternatives
        ],
        "assumptions": list(_assumptions(advice)),
    }
