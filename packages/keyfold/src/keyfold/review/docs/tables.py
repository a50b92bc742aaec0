"""Tables, indexes and entities of a design document."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.condition import condition_text
from keyfold.design.schema import AttributeSchema, EntitySchema, Schema, TableSchema
from keyfold.review.docs.blocks import Block, Grid, Heading, Paragraph, anchor


def keys(template: object) -> str:
    return f"`{template}`" if template else "–"


def tables(schema: Schema) -> Iterator[Block]:
    for table in schema.tables:
        if len(schema.tables) > 1:
            yield Heading(table.name, anchor("table", table.name))
        yield Paragraph(_facts(table, mixed=len(schema.entities_of(table.name)) > 1))
        rows = tuple(
            (
                f"**{entity.name}**",
                keys(entity.key.partition if entity.key else None),
                *((keys(entity.key.sort if entity.key else None),) if table.sort else ()),
                entity.description,
            )
            for entity in schema.entities_of(table.name)
        )
        head = ("Entity", table.partition, *((table.sort,) if table.sort else ()), "What it is")
        yield _fill(Grid(head, rows))


def _fill(grid: Grid) -> Grid:
    """The table without its last column if that is empty."""
    if any(row[-1] for row in grid.rows):
        return grid
    return Grid(grid.head[:-1], tuple(row[:-1] for row in grid.rows))


def _facts(table: TableSchema, *, mixed: bool) -> str:
    billing = table.billing.replace("_", " ").lower()
    sort = f", sort key {_typed(table.sort, table.sort_type)}" if table.sort else ""
    key = _typed(table.partition, table.partition_type)
    facts = [f"Table `{table.name}`, partition key {key}{sort}."]
    facts += [table.description] if table.description else []
    facts.append(f"Billing: {billing}.")
    if table.ttl:
        facts.append(f"TTL attribute: `{table.ttl}`.")
    if table.stream:
        facts.append(f"Stream: {table.stream}.")
    if table.name_variable:
        facts.append(f"Its name can be set with `{table.name_variable}`.")
    if table.type_attribute and mixed:
        facts.append(f"`{table.type_attribute}` says which entity an item is.")
    return " ".join(f if f.endswith(".") else f"{f}." for f in facts)


def _typed(attribute: str, kind: str) -> str:
    return f"`{attribute}`" + {"N": " (number)", "B": " (binary)"}.get(kind, "")


def vectors(schema: Schema) -> Iterator[Block]:
    """Vector indexes and their searches."""
    rows = (
        (
            f"**{vector.name}**",
            f"`{vector.attribute}`",
            f"{vector.dimensions:,}",
            vector.distance.replace("_", " "),
            f"`{vector.within}`" if vector.within else "–",
            ", ".join(f"`{name}`" for name in vector.filters) or "–",
        )
        for table in schema.tables
        for vector in table.vectors
    )
    head = ("Vector index", "Attribute", "Dimensions", "Distance", "Within", "Filters")
    yield Grid(head, tuple(rows))
    asked = tuple(
        (
            search.name,
            search.entity,
            search.index,
            ", ".join(search.given) or "–",
            str(search.limit or search.limit_parameter or "–"),
            search.description.strip().partition("\n")[0],
        )
        for search in schema.searches
    )
    if asked:
        yield Grid(("Search", "Finds", "In", "Asks for", "Neighbours", "Purpose"), asked)
        yield Paragraph(
            "A search gives items with their scores, the nearest first, and is paid for by the "
            "bytes of all entries that it looks at."
        )


def indexes(schema: Schema) -> Iterator[Block]:
    for table in schema.tables:
        if not table.indexes:
            continue
        if len(schema.tables) > 1:
            yield Heading(table.name, anchor("indexes", table.name))
        yield Grid(
            ("Index", "Partition key", "Sort key", "Projection", "Purpose"),
            tuple(
                (
                    f"**{index.name}**" + (" (local)" if index.local else ""),
                    f"`{index.partition_text}`",
                    f"`{index.sort_text}`" if index.sort else "–",
                    index.projection.lower().replace("_", " "),
                    index.purpose,
                )
                for index in table.indexes
            ),
        )
        yield Paragraph("Placements:")
        yield Grid(
            ("Entity", *(index.name for index in table.indexes)),
            tuple(
                (f"**{entity.name}**", *(_key_cells(entity, i.name) for i in table.indexes))
                for entity in schema.entities_of(table.name)
                if entity.placements
            ),
        )


def _key_cells(entity: EntitySchema, index: str) -> str:
    cells = []
    for placement in entity.placement(index):
        key = placement.key
        cell = f"`{key.partition}` `{key.sort}`" if key.sort else f"`{key.partition}`"
        if placement.when is not None:
            cell += f" when `{condition_text(placement.when)}`"
        elif placement.note:
            cell += f" ({placement.note})"
        cells.append(cell)
    return " and ".join(cells) or "–"


def entities(schema: Schema) -> Iterator[Block]:
    for entity in schema.entities:
        yield Heading(entity.name, anchor("entity", entity.name))
        if entity.description:
            yield Paragraph(entity.description)
        facts = [f"Key `{entity.key}`." if entity.key else "**No primary key is given.**"]
        if entity.role != "canonical":
            facts.append(f"Role: {entity.role.replace('_', ' ')}.")
        if entity.version:
            facts.append(f"`{entity.version}` guards against lost updates.")
        swept = [e.target for e in schema.follows if e.source == entity.name and e.deletes]
        if gone := dict.fromkeys((*entity.cascades, *swept)):
            facts.append(f"Deleting it deletes {', '.join(gone)}.")
        yield Paragraph(" ".join(facts))
        rows = tuple(_attribute(attribute, entity) for attribute in entity.attributes)
        yield _fill(Grid(("Attribute", "Type", "", "Description"), rows))


def _attribute(attribute: AttributeSchema, entity: EntitySchema) -> tuple[str, ...]:
    kind = attribute.type.replace("_", " ")
    if attribute.values:
        kind += f": {', '.join(attribute.values)}"
    if attribute.stored:
        kind += f" ({attribute.stored})"
    if attribute.looks_like:
        kind += f" `{attribute.looks_like}`"
    marks = []
    if entity.key is not None and attribute.field in entity.key.fields:
        marks.append("only in the key" if attribute.in_key else "in the key")
    elif attribute.in_key:
        marks.append("only in an index key")
    marks += [f"computed from {', '.join(attribute.follows)}"] if attribute.follows else []
    marks += [f"a copy of {attribute.copies}"] if attribute.copies else []
    marks += ["optional"] if attribute.optional else []
    marks += ["never changes"] if not attribute.mutable else []
    marks += [f"of {attribute.refers}"] if attribute.refers else []
    marks += [f"at most {attribute.max_items}"] if attribute.max_items is not None else []
    marks += [f"may be stored as {' or '.join(attribute.reads)}"] if attribute.reads else []
    marks += [f"normalised by {attribute.normalise}"] if attribute.normalise else []
    return f"`{attribute.name}`", kind, ", ".join(marks), attribute.description
