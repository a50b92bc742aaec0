"""Access patterns of a design document: what each reads, by which key."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import PatternSchema, Schema
from keyfold.design.shorthand import SIGNS
from keyfold.review.docs.blocks import Block, Code, Grid, Heading, Paragraph, anchor
from keyfold.review.docs.requests import read_units, request
from keyfold.review.worst_case import ASSUMED_BYTES, most_requests


def patterns(schema: Schema) -> Iterator[Block]:
    if not schema.patterns:
        return
    yield Grid(
        ("Pattern", "Returns", "From", "Key condition", "Order", "Limit", "Requests", "Read units"),
        tuple(_pattern_row(schema, pattern) for pattern in schema.patterns),
    )
    sized = all(entity.bytes for entity in schema.entities)
    yield Paragraph(
        "Read units are for one call"
        + ("." if sized else f", with items of {ASSUMED_BYTES:,} bytes where no size is given.")
    )


def requests(schema: Schema) -> Iterator[Block]:
    """Each pattern as DynamoDB is asked for it; on the screen, and not on paper."""
    for pattern in schema.patterns:
        if pattern.partition is not None or pattern.kind == "scan":
            yield Heading(pattern.name, anchor("pattern", pattern.name))
            if pattern.description:
                yield Paragraph(pattern.description.strip().splitlines()[0])
            yield Code(request(schema, pattern))


def _pattern_row(schema: Schema, pattern: PatternSchema) -> tuple[str, ...]:
    asked = _key_words(schema, pattern)
    partition = " or ".join(
        f"`{shape}`" for shape in (pattern.partition, *pattern.other_partitions) if shape
    )
    order = "descending" if pattern.descending else "ascending"
    limit = str(pattern.limit) if pattern.limit else pattern.limit_parameter
    return (
        f"[{pattern.name}](#{anchor('pattern', pattern.name)})"
        if pattern.partition is not None or pattern.kind == "scan"
        else f"**{pattern.name}**",
        ", ".join(pattern.entities) or "everything",
        pattern.index or pattern.table,
        partition + (f", `{asked}`" if asked else ""),
        "–" if pattern.kind == "get" else order,
        (limit or ("pages" if pattern.paged else "–")) if pattern.kind != "get" else "–",
        _requests(schema, pattern),
        read_units(schema, pattern),
    )


def _requests(schema: Schema, pattern: PatternSchema) -> str:
    """The budget, which the run time enforces, or the most that one call can need."""
    most = pattern.requests or most_requests(schema, pattern)
    return f"at most {most}" if most else "no bound"


def _key_words(schema: Schema, pattern: PatternSchema) -> str:
    condition = pattern.condition
    if condition.operator == "none" or condition.template is None:
        return ""
    table = schema.by_table[pattern.table]
    owner = (table.index(pattern.index) if pattern.index else None) or table
    template = condition.template.text
    if condition.operator == "begins_with":
        return f"{owner.sort_text} begins with {template}"
    if condition.operator in SIGNS:
        return f"{owner.sort_text} {SIGNS[condition.operator]} {template}"
    if condition.upper is not None:
        return f"{owner.sort_text} between {template} and {condition.upper}"
    low = f"{template}{{{condition.low.parameter}}}" if condition.low else f"{template}…"
    high = f"{template}{{{condition.high.parameter}}}" if condition.high else f"{template}…"
    return f"{owner.sort_text} between {low} and {high}"
