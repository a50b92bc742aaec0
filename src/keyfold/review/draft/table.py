"""A design file drafted from a table in use: what `keyfold inspect` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from keyfold.clients.protocol import Client
from keyfold.design.naming import physical_name
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    PatternSchema,
    Placement,
    Schema,
    SortCondition,
    TableSchema,
    TtlSchema,
)
from keyfold.design.shorthand import template as parsed
from keyfold.errors import KeyfoldError, OperationError, TableNotFound
from keyfold.review.draft import names
from keyfold.review.draft.shapes import Item, attribute_type, shape, template, text
from keyfold.runtime.flow import run_by
from keyfold.runtime.walk import Walk

TYPE_ATTRIBUTES = ("type", "entityType", "_type", "__typename", "et", "_et", "__edb_e__")


def inspect(client: Client, name: str, *, sample: int) -> Schema:
    """Sample a table and draft its design."""
    drafted = observe(client, name, sample=sample)
    if not drafted.entities:
        raise KeyfoldError(f"{name} has no items, so that there is nothing to draft from")
    return drafted


def observe(client: Client, name: str, *, sample: int) -> Schema:
    """What a table and a sample of its items look like."""
    described = client.call("DescribeTable", {"TableName": name})["Table"]
    ttl = _ttl(client, name)
    items = list(_sample(client, name, sample))
    table = _table(described, ttl, items)
    groups = _groups(table, items)
    entities = tuple(_entity(table, title, group, len(items)) for title, group in groups.items())
    return Schema(
        name=name,
        description=f"Drafted from {len(items):,} items of {name}",
        tables=(table,),
        entities=entities,
        patterns=tuple(_pattern(table, entity) for entity in entities),
    )


def observed(
    client: Client, schema: Schema, prefix: str, known_as: Mapping[str, str], sample: int
) -> Schema:
    """A design with what its tables look like; tables that are not there are left out."""
    tables: list[TableSchema] = []
    entities: list[EntitySchema] = []
    for table in schema.tables:
        try:
            seen = observe(client, physical_name(table, prefix, known_as), sample=sample)
        except TableNotFound:
            continue
        tables += [replace(each, name=table.name) for each in seen.tables]
        entities += [replace(entity, table=table.name) for entity in seen.entities]
    live = Schema(schema.name, tables=tuple(tables), entities=tuple(entities))
    return replace(schema, observed=live)


def _ttl(client: Client, name: str) -> str | None:
    try:
        found = client.call("DescribeTimeToLive", {"TableName": name})
    except OperationError:
        return None
    described = found.get("TimeToLiveDescription", {})
    enabled = described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return described.get("AttributeName") if enabled else None


def _sample(client: Client, name: str, wanted: int) -> Iterator[Item]:
    """Items from all over the table: segments are read in turn."""
    segments = min(8, max(1, wanted // 50))
    walks = [Walk("Scan", _segment(name, number, segments)) for number in range(segments)]
    while walks:
        for walk in list(walks):
            found = run_by(client.call, walk.next(min(100, wanted)))["Items"][:wanted]
            yield from found
            wanted -= len(found)
            if wanted == 0:
                return
            if walk.ended:
                walks.remove(walk)


def _segment(table: str, number: int, segments: int) -> dict[str, Any]:
    part = {"Segment": number, "TotalSegments": segments} if segments > 1 else {}
    return {"TableName": table, **part}


def _table(described: Mapping[str, Any], ttl: str | None, items: list[Item]) -> TableSchema:
    types = {a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]}
    indexes = [
        *((index, False) for index in described.get("GlobalSecondaryIndexes", [])),
        *((index, True) for index in described.get("LocalSecondaryIndexes", [])),
    ]
    keys = {name for each in [described, *(i for i, _ in indexes)] for name in _key(each)}
    marker = next(
        (a for a in TYPE_ATTRIBUTES if a not in keys and items and all(a in i for i in items)),
        None,
    )
    stream = described.get("StreamSpecification", {})
    partition, sort = _pair(described)
    return TableSchema(
        name=described["TableName"],
        partition=partition,
        sort=sort,
        partition_type=types[partition],
        sort_type=types[sort] if sort else "S",
        indexes=tuple(_index(index, types, local=local) for index, local in indexes),
        ttl=ttl,
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        billing=described.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED"),
        type_attribute=marker,
    )


def _key(schema: Mapping[str, Any]) -> list[str]:
    return [part["AttributeName"] for part in schema["KeySchema"]]


def _pair(schema: Mapping[str, Any]) -> tuple[str, str | None]:
    names_ = _key(schema)
    return names_[0], names_[1] if len(names_) > 1 else None


def _index(index: Mapping[str, Any], types: Mapping[str, Any], *, local: bool) -> Index:
    partition, sort = _pair(index)
    projection = index.get("Projection", {})
    return Index(
        name=index["IndexName"],
        partition=partition,
        sort=sort,
        partition_type=types[partition],
        sort_type=types[sort] if sort else "S",
        projection=projection.get("ProjectionType", "ALL"),
        included=tuple(projection.get("NonKeyAttributes", ())),
        local=local,
    )


def _groups(table: TableSchema, items: list[Item]) -> dict[str, list[Item]]:
    """Items by entity: by their type attribute, or by the shape of their keys."""
    shapes: dict[object, list[Item]] = {}
    for item in items:
        kind = text(item, table.type_attribute) if table.type_attribute else None
        sort = shape(text(item, table.sort)) if table.sort and table.sort_type == "S" else ()
        shapes.setdefault(kind or (shape(text(item, table.partition)), sort), []).append(item)
    named: dict[str, list[Item]] = {}
    for known, group in sorted(shapes.items(), key=lambda pair: -len(pair[1])):
        title = names.class_name(known) if isinstance(known, str) else _title(table, known)
        number = 2
        unique = title
        while unique in named:
            unique, number = f"{title}{number}", number + 1
        named[unique] = group
    return named


def _title(table: TableSchema, known: Any) -> str:
    partition, sort = known
    words = [part for part in (*sort, *reversed(partition)) if part]
    return names.class_name(words[0]) if words else names.class_name(f"{table.name} item")


def _entity(table: TableSchema, title: str, group: list[Item], total: int) -> EntitySchema:
    partition = template(group, table.partition) or "{unknown}"
    sort = template(group, table.sort) if table.sort else None
    key = KeyTemplates(parsed(partition), parsed(sort) if sort else None)
    placements = tuple(_placements(table, group))
    inner = {table.partition, table.sort, table.type_attribute}
    inner |= {name for index in table.indexes for name in (index.partition, index.sort)}
    bare = {f for templates in (key, *(p.key for p in placements)) for f in templates.fields}
    attributes = tuple(_attributes(group, {name for name in inner if name not in bare}, bare))
    expires = table.ttl and any(table.ttl in item for item in group)
    share = 100 * len(group) / total
    return EntitySchema(
        name=title,
        table=table.name,
        key=key,
        attributes=attributes,
        placements=placements,
        ttl=TtlSchema(table.ttl) if expires and table.ttl else None,
        description=f"{share:.0f}% of the sample, {len(group):,} items",
    )


def _placements(table: TableSchema, group: list[Item]) -> Iterator[Placement]:
    for index in table.indexes:
        attributes = [name for name in (index.partition, index.sort) if name]
        present = [item for item in group if all(name in item for name in attributes)]
        if not present:
            continue
        partition = parsed(template(present, index.partition) or "{unknown}")
        sort = parsed(template(present, index.sort) or "{unknown}") if index.sort else None
        key = KeyTemplates(partition, sort)
        share = 100 * len(present) / len(group)
        condition = f"present on {share:.0f}% of them" if len(present) < len(group) else ""
        yield Placement(index.name, index.name, key, note=condition)


def _attributes(
    group: list[Item], hidden: set[str | None], keyed: set[str]
) -> Iterator[AttributeSchema]:
    seen: dict[str, list[Mapping[str, object]]] = {}
    for item in group:
        for name, value in item.items():
            seen.setdefault(name, []).append(value)
    for name in sorted(keyed - set(seen)):
        kind = "timestamp" if name.startswith("at") else "string"
        yield AttributeSchema(name, name, kind, mutable=False)
    for name, values in seen.items():
        if name not in hidden:
            kind = attribute_type(name, values)
            yield AttributeSchema(name, name, kind, optional=len(values) < len(group))


def _pattern(table: TableSchema, entity: EntitySchema) -> PatternSchema:
    """The one pattern that is certain: an item by its key."""
    sort = entity.key.sort if entity.key else None
    return PatternSchema(
        name=f"{entity.name} by key",
        entities=(entity.name,),
        kind="get",
        table=table.name,
        partition=entity.key.partition if entity.key else None,
        condition=SortCondition("eq", sort) if sort else SortCondition(),
    )
