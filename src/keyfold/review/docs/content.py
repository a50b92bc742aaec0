"""What a design document says, section by section, from the schema alone."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Attribute, Entity, Pattern, Schema, Table
from keyfold.design.shorthand import SIGNS
from keyfold.review.docs.blocks import (
    Block,
    Code,
    Document,
    Heading,
    Picture,
    Section,
    Text,
    anchor,
)
from keyfold.review.docs.blocks import Table as Grid
from keyfold.review.docs.entity_map import entity_map
from keyfold.review.docs.findings import findings
from keyfold.review.docs.key_map import key_map
from keyfold.review.docs.requests import ASSUMED_BYTES, read_units, request, told, write_units
from keyfold.review.docs.write_flow import flows, write_flow

MANY_FLOWS = 12


def document(schema: Schema) -> Document:
    """The whole document; sections with nothing to say are left out."""
    made = (
        ("Overview", _overview(schema)),
        ("Tables and keys", _tables(schema)),
        ("Indexes", _indexes(schema)),
        ("Access patterns", _patterns(schema)),
        ("Entities", _entities(schema)),
        ("Copies and what keeps them right", _copies(schema)),
        ("Counters", _counters(schema)),
        ("Unique values", _uniques(schema)),
        ("Writes", _writes(schema)),
        ("Streams", _streams(schema)),
        ("Feeds", _feeds(schema)),
        ("How long items are kept", _retention(schema)),
        ("Migration", _migration(schema)),
        ("Findings", findings(schema)),
    )
    sections = [(title, tuple(blocks)) for title, blocks in made]
    return Document(
        schema.name,
        schema.description,
        tuple(Section(title, anchor(title), blocks) for title, blocks in sections if blocks),
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _overview(schema: Schema) -> Iterator[Block]:
    indexes = sum(len(table.indexes) for table in schema.tables)
    yield Text(
        f"{_count(len(schema.tables), 'table', 'tables')}, "
        f"{_count(indexes, 'index', 'indexes')}, "
        f"{_count(len(schema.entities), 'entity', 'entities')}, "
        f"{_count(len(schema.patterns), 'access pattern', 'access patterns')}."
    )
    if schema.entities:
        yield Picture(
            "entities",
            entity_map(schema),
            "Entities with their primary keys. Arrows lead to what an item refers to; dashed ones "
            "to what it is a copy of; green ones to where it is counted.",
        )


def _keys(template: object) -> str:
    return f"`{template}`" if template else "–"


def _tables(schema: Schema) -> Iterator[Block]:
    for table in schema.tables:
        if len(schema.tables) > 1:
            yield Heading(table.name, anchor("table", table.name))
        mixed = len(schema.entities_of(table.name)) > 1
        yield Text(_facts(table, titled=len(schema.tables) > 1, mixed=mixed))
        rows = tuple(
            (
                f"**{entity.name}**",
                _keys(entity.key.partition if entity.key else None),
                *((_keys(entity.key.sort if entity.key else None),) if table.sort else ()),
                entity.description,
            )
            for entity in schema.entities_of(table.name)
        )
        head = ("Entity", table.partition, *((table.sort,) if table.sort else ()), "What it is")
        if rows:
            yield _filled(Grid(head, rows))


def _filled(grid: Grid) -> Grid:
    """The table without its last column where that says nothing."""
    if any(row[-1] for row in grid.rows):
        return grid
    return Grid(grid.head[:-1], tuple(row[:-1] for row in grid.rows))


def _facts(table: Table, *, titled: bool, mixed: bool) -> str:
    billing = table.billing.replace("_", " ").lower()
    facts = [] if titled else [f"**{table.name}**"]
    facts += [table.description] if table.description else []
    facts.append(f"Key: `{'` and `'.join(table.key_attributes)}`.")
    facts.append(f"Billing: {billing}.")
    if table.ttl:
        facts.append(f"TTL attribute: `{table.ttl}`.")
    if table.stream:
        facts.append(f"Stream: {table.stream.replace('_', ' ').lower()}.")
    if table.name_variable:
        facts.append(f"Its name can be set with `{table.name_variable}`.")
    if table.type_attribute and mixed:
        facts.append(f"`{table.type_attribute}` says which entity an item is.")
    return " ".join(f if f.endswith((".", "**")) else f"{f}." for f in facts)


def _indexes(schema: Schema) -> Iterator[Block]:
    for table in schema.tables:
        if not table.indexes and len(schema.entities_of(table.name)) < 2:
            continue
        if len(schema.tables) > 1:
            yield Heading(table.name, anchor("indexes", table.name))
        if table.indexes:
            yield Grid(
                ("Index", "Partition key", "Sort key", "Projection", "Purpose"),
                tuple(
                    (
                        f"**{index.name}**" + (" (local)" if index.local else ""),
                        f"`{index.partition}`",
                        f"`{index.sort}`" if index.sort else "–",
                        index.projection.lower().replace("_", " "),
                        index.purpose,
                    )
                    for index in table.indexes
                ),
            )
            yield Text("Who is where:")
            yield Grid(
                ("Entity", *(index.name for index in table.indexes)),
                tuple(
                    (f"**{entity.name}**", *(_placed(entity, i.name) for i in table.indexes))
                    for entity in schema.entities_of(table.name)
                    if entity.placements
                ),
            )
        yield Picture(
            f"keys-{anchor(table.name)}",
            key_map(schema, table),
            f"What lies together in {table.name}"
            + (" and its indexes" if table.indexes else "")
            + ": a frame is one partition, its rows come in the order of their sort keys.",
        )


def _placed(entity: Entity, index: str) -> str:
    cells = []
    for placement in entity.placement(index):
        key = placement.key
        cell = f"`{key.partition}` `{key.sort}`" if key.sort else f"`{key.partition}`"
        if placement.when:
            cell += f" when {', '.join(placement.when)} is there"
        elif placement.condition:
            cell += f" when {told(placement.condition)}"
        cells.append(cell)
    return " and ".join(cells) or "–"


def _patterns(schema: Schema) -> Iterator[Block]:
    if not schema.patterns:
        return
    yield Grid(
        ("Pattern", "Returns", "From", "Key condition", "Order", "Limit", "Read units"),
        tuple(_pattern_row(schema, pattern) for pattern in schema.patterns),
    )
    sized = all(entity.bytes for entity in schema.entities)
    yield Text(
        "Read units are for one call"
        + ("." if sized else f", with items of {ASSUMED_BYTES:,} bytes where no size is given.")
    )
    for pattern in schema.patterns:
        yield Heading(pattern.name, anchor("pattern", pattern.name))
        if pattern.description:
            yield Text(pattern.description.strip().splitlines()[0])
        budget = pattern.requests
        if budget is not None:
            yield Text(f"Budget: {_count(budget, 'request', 'requests')}, enforced at run time.")
        if pattern.partition is not None or pattern.kind == "scan":
            yield Code(request(schema, pattern))


def _pattern_row(schema: Schema, pattern: Pattern) -> tuple[str, ...]:
    asked = _asked(schema, pattern)
    partition = " or ".join(
        f"`{shape}`" for shape in (pattern.partition, *pattern.other_partitions) if shape
    )
    order = (
        "newest first"
        if pattern.descending and pattern.newest
        else ("descending" if pattern.descending else "ascending")
    )
    limit = str(pattern.limit) if pattern.limit else pattern.limit_parameter
    return (
        f"[{pattern.name}](#{anchor('pattern', pattern.name)})",
        ", ".join(pattern.entities) or "everything",
        pattern.index or pattern.table,
        partition + (f", `{asked}`" if asked else ""),
        "–" if pattern.kind == "get" else order,
        (limit or ("pages" if pattern.paged else "–")) if pattern.kind != "get" else "–",
        read_units(schema, pattern),
    )


def _asked(schema: Schema, pattern: Pattern) -> str:
    condition = pattern.condition
    if condition.operator == "none" or condition.template is None:
        return ""
    table = schema.by_table[pattern.table]
    owner = (table.index(pattern.index) if pattern.index else None) or table
    template = condition.template.text
    if condition.operator == "begins_with":
        return f"{owner.sort} begins with {template}"
    if condition.operator in SIGNS:
        return f"{owner.sort} {SIGNS[condition.operator]} {template}"
    if condition.upper is not None:
        return f"{owner.sort} from {template} to {condition.upper}"
    low = f"{template}{{{condition.low.parameter}}}" if condition.low else f"{template}…"
    high = f"{template}{{{condition.high.parameter}}}" if condition.high else f"{template}…"
    return f"{owner.sort} from {low} to {high}"


def _entities(schema: Schema) -> Iterator[Block]:
    for entity in schema.entities:
        yield Heading(entity.name, anchor("entity", entity.name))
        if entity.description:
            yield Text(entity.description)
        facts = [f"Key `{entity.key}`." if entity.key else "**No primary key is given.**"]
        if entity.role != "canonical":
            facts.append(f"Role: {entity.role.replace('_', ' ')}.")
        if entity.version:
            facts.append(f"`{entity.version}` guards against lost updates.")
        if entity.cascades:
            facts.append(f"Deleting it deletes {', '.join(entity.cascades)}.")
        yield Text(" ".join(facts))
        if entity.attributes:
            yield _filled(
                Grid(
                    ("Attribute", "Type", "", "Description"),
                    tuple(_attribute(attribute, entity) for attribute in entity.attributes),
                )
            )


def _attribute(attribute: Attribute, entity: Entity) -> tuple[str, ...]:
    kind = attribute.type.replace("_", " ")
    if attribute.values:
        kind += f": {', '.join(attribute.values)}"
    if attribute.stored:
        kind += f" ({attribute.stored})"
    if attribute.looks_like:
        kind += f" `{attribute.looks_like}`"
    marks = []
    if entity.key is not None and attribute.field in entity.key.fields:
        marks.append("in the key")
    marks += ["optional"] if attribute.optional else []
    marks += ["never changes"] if not attribute.mutable else []
    marks += [f"of {attribute.refers}"] if attribute.refers else []
    marks += [f"at most {attribute.max_items}"] if attribute.max_items is not None else []
    marks += [f"normalised by {attribute.normalise}"] if attribute.normalise else []
    return f"`{attribute.name}`", kind, ", ".join(marks), attribute.description


SYNCS = {
    "transaction": "in the same transaction",
    "stream": "from the stream",
    "none": "**nothing**",
}


def _copies(schema: Schema) -> Iterator[Block]:
    rows = tuple(
        (
            f"**{entity.name}**",
            entity.copy.of,
            ", ".join(entity.copy.fields) or "all it shares",
            f"one for each of `{entity.copy.each}`" if entity.copy.each else "–",
            SYNCS[entity.copy.sync],
        )
        for entity in schema.entities
        if entity.copy is not None
    )
    if rows:
        yield Grid(("Copy", "Of", "Fields", "How many", "Kept right by"), rows)


def _counters(schema: Schema) -> Iterator[Block]:
    rows = tuple(
        (
            f"**{counter.target}.{counter.attribute}**",
            (f"sum of {counter.sums} of " if counter.sums else "number of ")
            + counter.counts
            + (f" where {told(counter.where)}" if counter.where else ""),
            SYNCS[counter.sync] if counter.exactly_once else "by adding: **a repeat counts twice**",
            str(counter.shards),
        )
        for counter in schema.counters
    )
    if rows:
        yield Grid(("Counter", "What it is", "Kept right", "Shards"), rows)


def _uniques(schema: Schema) -> Iterator[Block]:
    held = {
        "marker": "a marker item in the same transaction",
        "claim": "a claim item that is its key",
        "index": "**looking in an index, which enforces nothing**",
    }
    rows = tuple(
        (f"**{entity.name}**", ", ".join(u.fields), held[u.by], u.normalise or "–")
        for entity in schema.entities
        for u in entity.uniques
    )
    if rows:
        yield Grid(("Entity", "Unique", "Held by", "Normalised"), rows)


def _writes(schema: Schema) -> Iterator[Block]:
    found = flows(schema)
    if schema.operations:
        yield Grid(
            ("Operation", "Writes", "Atomic", "Safe to repeat", "Write units"),
            tuple(
                (
                    f"**{o.name}**",
                    ", ".join(
                        f"{e.action} {'each ' if e.each else ''}{e.entity}" for e in o.effects
                    ),
                    "yes" if o.atomic else ("no" if len(o.effects) > 1 else "–"),
                    "yes" if o.idempotent and not o.needs else "–",
                    _units(schema, o.name),
                )
                for o in schema.operations
            ),
        )
    for flow in found[:MANY_FLOWS]:
        if len(flow.writes) < 2 and not flow.later:
            continue
        yield Picture(f"flow-{anchor(flow.name)}", write_flow(flow), "")


def _units(schema: Schema, name: str) -> str:
    operation = next(o for o in schema.operations if o.name == name)
    units = sum(
        write_units(schema, e.entity, transactional=operation.atomic)
        for e in operation.effects
        if not e.each
    )
    each = sum(
        write_units(schema, e.entity, transactional=operation.atomic)
        for e in operation.effects
        if e.each
    )
    return f"{units} + {each} for each" if each else str(units)


def _streams(schema: Schema) -> Iterator[Block]:
    rows = tuple(
        (
            f"**{c.name}**",
            ", ".join(c.entities) or "everything",
            ", ".join(event.lower() for event in c.events) or "–",
            ", ".join(f"{e.action} {e.entity}" for e in c.effects) or "–",
            c.dead_letter or "**nowhere**",
        )
        for c in schema.consumers
    )
    if rows:
        yield Grid(("Consumer", "Acts on", "Events", "Does", "What fails goes to"), rows)


def _feeds(schema: Schema) -> Iterator[Block]:
    ways = {
        "fan_in": "gathered when read",
        "fan_out": "copied when written",
        "hybrid": "gathered for some, copied for others",
    }
    rows = tuple(
        (
            f"**{feed.name}**",
            feed.post,
            feed.item or "–",
            ways[feed.mode],
            feed.edge or "–",
            f"{feed.cap:,}" if feed.cap else "–",
            feed.trimmed_by or "–",
        )
        for feed in schema.feeds
    )
    if rows:
        yield Grid(("Feed", "Posts", "Items", "How", "Along", "Cap", "Trimmed by"), rows)


def _retention(schema: Schema) -> Iterator[Block]:
    rows = tuple(
        (
            f"**{e.name}**",
            f"`{e.ttl.attribute}`",
            (f"{e.ttl.days:g} days" if e.ttl.days else "the moment it holds")
            + (f" after {e.ttl.after}" if e.ttl.after else ""),
        )
        for e in schema.entities
        if e.ttl is not None
    )
    if rows:
        yield Grid(("Entity", "TTL attribute", "Kept for"), rows)
        until = "reads leave them out" if schema.enforced else "until then reads return them"
        yield Text(f"Expired items are removed typically within two days; {until}.")


def _migration(schema: Schema) -> Iterator[Block]:
    rows = tuple(
        (
            f"{number}",
            f"**{step.name}**",
            step.action.replace("_", " "),
            step.table or "–",
            ", ".join([*(f"+ {a}" for a in step.adds), *(f"− {d}" for d in step.drops)]) or "–",
        )
        for number, step in enumerate(schema.steps, 1)
    )
    if rows:
        yield Grid(("", "Step", "What", "Table", "Indexes"), rows)
