"""A workload observed on a running system: rates from metrics, sizes from items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from keyfold.design import shorthand
from keyfold.design.schema import EntitySchema, Schema, TableSchema
from keyfold.errors import KeyfoldError, TableNotFound
from keyfold.runtime.walk import Walk, pages
from keyfold_engine.clients.protocol import Client
from keyfold_engine.values.size import item_size
from keyfold_engine.values.units import write_units
from keyfold_workbench.cost.size_spread import SizeSpread, spread_of
from keyfold_workbench.cost.workload import (
    EntityLoad,
    FeedLoad,
    PatternLoad,
    Workload,
    WriteLoad,
)

CALLS = "keyfold_design_calls_total"
_LINE = re.compile(rf"{CALLS}\{{(?P<labels>[^}}]*)\}} (?P<value>\S+)")
_NAME = re.compile(r'(?:^|,)name="((?:[^"\\]|\\.)*)"')

Item = Mapping[str, Any]
ENOUGH_ITEMS, STANDS_OUT = 100, 3.0
"""How many items are needed to judge popularity; the multiple of the average that is
exceptional.
"""


@dataclass(frozen=True)
class Scrape:
    """The metrics of one moment, in seconds."""

    at: float
    text: str

    def calls(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for line in _LINE.finditer(self.text):
            name = _NAME.search(line["labels"])
            if name is not None:
                found[name[1]] = found.get(name[1], 0.0) + float(line["value"])
        return found


def rates(scrapes: Sequence[Scrape]) -> dict[str, tuple[float, float]]:
    """Calls per second by name, on average and in the busiest interval."""
    if len(scrapes) < 2:
        raise KeyfoldError("rates need at least two samples of the metrics")
    counted = [(scrape.at, scrape.calls()) for scrape in scrapes]
    if not any(calls for _, calls in counted):
        raise KeyfoldError(f"the metrics have no {CALLS}; they come from services run by keyfold")
    whole = counted[-1][0] - counted[0][0]
    found = {}
    for name, last in counted[-1][1].items():
        average = max(0.0, last - counted[0][1].get(name, 0.0)) / whole
        peaks = [
            (after.get(name, 0.0) - before.get(name, 0.0)) / (end - start)
            for (start, before), (end, after) in pairwise(counted)
            if end > start
        ]
        found[name] = (average, max(average, *peaks))
    return found


def traffic(schema: Schema, seen: Mapping[str, tuple[float, float]]) -> Workload:
    """The rates of known patterns and writes; other names are skipped."""
    patterns = {
        name: PatternLoad(rate=average, peak=peak)
        for name, (average, peak) in seen.items()
        if name in schema.by_pattern
    }
    writes = []
    for name, (average, peak) in seen.items():
        effect = shorthand.effect(name)
        if effect is not None and effect.entity in schema.by_entity:
            writes.append(WriteLoad(name, (effect,), rate=average, peak=peak))
    feeds = {
        feed.name: FeedLoad(*seen[f"feed {feed.name}"])
        for feed in schema.feeds
        if f"feed {feed.name}" in seen
    }
    return Workload(patterns=patterns, writes=tuple(writes), feeds=feeds)


@dataclass
class _Seen:
    items: int = 0
    sizes: list[int] = field(default_factory=list)
    values: dict[str, Counter[str]] = field(default_factory=dict)


def entities(
    client: Client, schema: Schema, names: Mapping[str, str], sample: int
) -> dict[str, EntityLoad]:
    """The number and size of each entity's items, from a sample of every table."""
    found: dict[str, EntityLoad] = {}
    for table in schema.tables:
        name = names.get(table.name, table.name)
        try:
            described = client.call("DescribeTable", {"TableName": name})["Table"]
        except TableNotFound:
            continue
        seen: dict[str, _Seen] = {}
        read = 0
        for item in _items(client, name, sample):
            read += 1
            entity = _entity(schema, table, item)
            if entity is not None:
                _add(seen.setdefault(entity.name, _Seen()), entity, item)
        whole = read < sample
        count = read if whole else max(read, int(described.get("ItemCount", read)))
        for entity_name, each in seen.items():
            items = each.items * count / read
            distinct = {f: float(len(v)) for f, v in each.values.items()} if whole else {}
            found[entity_name] = EntityLoad(
                items=round(items),
                bytes=round(sum(each.sizes) / each.items),
                sizes=_spread(each.sizes),
                distinct=distinct,
                hottest=_hottest(each),
            )
    return found


def _spread(sizes: list[int]) -> SizeSpread | None:
    """How sizes vary, if some exceed one unit and others do not."""
    units = {write_units(size) for size in sizes}
    return spread_of(sizes) if len(sizes) >= ENOUGH_ITEMS and len(units) > 1 else None


def _hottest(seen: _Seen) -> dict[str, float]:
    """The share of a key field's most common value, if it is exceptional."""
    found = {}
    for name, values in seen.values.items():
        (_, most), *_ = values.most_common(1)
        if seen.items >= ENOUGH_ITEMS and most > STANDS_OUT * seen.items / len(values):
            found[name] = round(most / seen.items, 4)
    return found


def _add(seen: _Seen, entity: EntitySchema, item: Item) -> None:
    seen.items += 1
    seen.sizes.append(item_size(item))
    keyed = {f for p in entity.placements for f in p.key.partition.fields}
    keyed |= set(entity.key.partition.fields if entity.key else ())
    for name in keyed:
        attribute = entity.by_field.get(name)
        if attribute is not None and attribute.name in item:
            seen.values.setdefault(name, Counter())[str(item[attribute.name])] += 1


def _items(client: Client, name: str, wanted: int) -> Iterator[Item]:
    request = {"TableName": name, "Limit": min(wanted, 500)}
    items = (item for page in pages(client.call, Walk("Scan", request)) for item in page["Items"])
    return islice(items, wanted)


def _entity(schema: Schema, table: TableSchema, item: Item) -> EntitySchema | None:
    """The entity of an item: by its type, or by the form of its key."""
    kind = item.get(table.type_attribute or "", {}).get("S")
    for entity in schema.entities_of(table.name):
        if kind is not None and kind == (entity.type_name or entity.name):
            return entity
    for entity in schema.entities_of(table.name):
        if entity.key is None:
            continue
        parts = ((table.partition, entity.key.partition), (table.sort, entity.key.sort))
        if all(
            template is None or (name in item and template.matches(_text(item[name])))
            for name, template in parts
            if name
        ):
            return entity
    return None


def _text(value: Any) -> str:
    return str(next(iter(value.values())))
