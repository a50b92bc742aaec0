"""The adviser's units are the engine's consumed capacity, to the unit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
)
from keyfold.design.shorthand import effect
from keyfold.design.template import parse_template
from keyfold.runtime.tables import create_request
from keyfold_engine.engine import Engine
from keyfold_engine.values.size import item_size
from keyfold_workbench.cost import EntityLoad, PatternLoad, Workload
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.reads import read
from keyfold_workbench.cost.workload import WriteLoad
from keyfold_workbench.cost.writes import write

TABLE = TableSchema(
    "things",
    type_attribute=None,
    indexes=(
        Index("All", "owner", "name"),
        Index("Keys", "owner", projection="KEYS_ONLY"),
        Index("Some", "owner", "name", projection="INCLUDE", included=("note",)),
        Index("Local", "PK", "name", local=True),
    ),
)
KEY = KeyTemplates(parse_template("{room}"), parse_template("{name}"))
THING = EntitySchema(
    "Thing",
    "things",
    KEY,
    tuple(
        AttributeSchema(name, name, "string") for name in ("room", "name", "owner", "body", "note")
    ),
    tuple(
        Placement(
            index.name,
            index.name,
            KeyTemplates(
                parse_template("{owner}" if not index.local else "{room}"),
                parse_template("{name}") if index.sort else None,
            ),
        )
        for index in TABLE.indexes
    ),
)
PER_PARTITION = 6


def thing(number: int, body: int, note: int, owner: str = "o") -> dict[str, Any]:
    name = f"n{number:03d}"
    texts = {
        "PK": "r",
        "SK": name,
        "room": "r",
        "name": name,
        "owner": owner,
        "body": "b" * body,
        "note": "c" * note,
    }
    return {field: {"S": text} for field, text in texts.items()}


def patterns() -> list[PatternSchema]:
    common: dict[str, Any] = {"entities": ("Thing",), "table": "things"}
    queried: dict[str, Any] = {**common, "kind": "query"}
    room = KEY.partition
    return [
        PatternSchema(
            "get",
            kind="get",
            partition=room,
            condition=SortCondition("eq", KEY.sort),
            consistent=True,
            **common,
        ),
        PatternSchema(
            "get eventual",
            kind="get",
            partition=room,
            condition=SortCondition("eq", KEY.sort),
            **common,
        ),
        PatternSchema("query", partition=room, **queried),
        PatternSchema("query consistent", partition=room, consistent=True, **queried),
        PatternSchema("query Local", index="Local", partition=room, consistent=True, **queried),
        *(
            PatternSchema(
                f"query {name}", index=name, partition=parse_template("{owner}"), **queried
            )
            for name in ("All", "Keys", "Some")
        ),
        PatternSchema("scan", kind="scan", **common),
    ]


SCHEMA = Schema("things", (TABLE,), (THING,), tuple(patterns()))


def figures(example: dict[str, Any], *writes: WriteLoad) -> DesignNumbers:
    sizes = {name: item_size({name: value}) for name, value in example.items()}
    load = EntityLoad(
        items=PER_PARTITION,
        bytes=item_size(example),
        attributes=sizes,
        distinct={"room": 1, "owner": 1, "name": PER_PARTITION},
    )
    pages = {
        pattern.name: PatternLoad(
            rate=1,
            page=PER_PARTITION,
            needs=("name", "note") if pattern.index == "Some" else ("name",),
        )
        for pattern in SCHEMA.patterns
    }
    return DesignNumbers(SCHEMA, Workload({"Thing": load}, pages, writes))


@pytest.fixture(scope="module")
def engine() -> Any:
    with Engine.open(":memory:") as opened:
        yield opened


def fill(engine: Engine, items: list[dict[str, Any]]) -> None:
    known = engine.call("ListTables", {})["TableNames"]
    if "things" in known:
        engine.call("DeleteTable", {"TableName": "things"})
    engine.call("CreateTable", create_request(TABLE, "things"))
    for item in items:
        engine.call("PutItem", {"TableName": "things", "Item": item})


def units(answer: dict[str, Any]) -> dict[str | None, float]:
    consumed = answer["ConsumedCapacity"]
    total: dict[str | None, float] = {}
    for one in consumed if isinstance(consumed, list) else [consumed]:
        if one["Table"]["CapacityUnits"]:
            total[None] = total.get(None, 0.0) + one["Table"]["CapacityUnits"]
        for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            for name, index in one.get(member, {}).items():
                total[name] = total.get(name, 0.0) + index["CapacityUnits"]
    return total


SIZES = st.tuples(st.integers(0, 9000), st.integers(0, 5000))


@settings(max_examples=12, deadline=None)
@given(SIZES)
def test_every_read_costs_what_the_engine_reports(engine: Engine, size: tuple[int, int]) -> None:
    items = [thing(number, *size) for number in range(PER_PARTITION)]
    fill(engine, items)
    made = figures(items[0])
    for pattern in SCHEMA.patterns:
        answer = engine.call(*request(pattern))
        found = read(made, pattern)
        assert units(answer) == {pattern.index: found.units}, pattern.name
        assert not found.fetched


def request(pattern: PatternSchema) -> tuple[str, dict[str, Any]]:
    asked: dict[str, Any] = {"TableName": "things", "ReturnConsumedCapacity": "INDEXES"}
    if pattern.kind == "scan":
        return "Scan", asked
    asked["ConsistentRead"] = pattern.consistent
    if pattern.kind == "get":
        return "GetItem", {**asked, "Key": {"PK": {"S": "r"}, "SK": {"S": "n000"}}}
    if pattern.index:
        asked["IndexName"] = pattern.index
    name = "PK" if pattern.index in (None, "Local") else "owner"
    return "Query", {
        **asked,
        "KeyConditionExpression": "#p = :p",
        "ExpressionAttributeNames": {"#p": name},
        "ExpressionAttributeValues": {":p": {"S": "r" if name == "PK" else "o"}},
    }


WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "create Thing": ("Put", {}),
    "update Thing (body)": ("Update", {"body": "x"}),
    "update Thing (note)": ("Update", {"note": "x"}),
    "update Thing (owner)": ("Update", {"owner": "p"}),
    "delete Thing": ("Delete", {}),
}


def written(name: str, item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A write as the member of a transaction."""
    kind, changes = WRITES[name]
    if kind == "Put":
        return kind, {"TableName": "things", "Item": item}
    key = {"Key": {name: item[name] for name in ("PK", "SK")}, "TableName": "things"}
    if kind == "Delete":
        return kind, key
    ((field, text),) = changes.items()
    # A value of the same length, so that the size stays.
    same = text * len(item[field]["S"])
    return kind, {
        **key,
        "UpdateExpression": "SET #f = :v",
        "ExpressionAttributeNames": {"#f": field},
        "ExpressionAttributeValues": {":v": {"S": same}},
    }


def model(name: str, item: dict[str, Any], *, atomic: bool) -> dict[str | None, float]:
    found = effect(name)
    assert found is not None
    load = WriteLoad(name, (found,), rate=1, atomic=atomic)
    total: dict[str | None, float] = {}
    for part in write(figures(item, load), load).parts:
        total[part.path.index] = total.get(part.path.index, 0.0) + part.units
    return total


@settings(max_examples=10, deadline=None)
@given(st.tuples(st.integers(1, 9000), st.integers(1, 5000)), st.sampled_from(sorted(WRITES)))
def test_every_write_costs_what_the_engine_reports(
    engine: Engine, size: tuple[int, int], name: str
) -> None:
    item = thing(0, *size)
    for atomic in (False, True):
        fill(engine, [] if name.startswith("create") else [item])
        kind, body = written(name, item)
        if atomic:
            answer = engine.call(
                "TransactWriteItems",
                {"TransactItems": [{kind: body}], "ReturnConsumedCapacity": "INDEXES"},
            )
        else:
            answer = engine.call(f"{kind}Item", {**body, "ReturnConsumedCapacity": "INDEXES"})
        assert units(answer) == model(name, item, atomic=atomic)


@settings(max_examples=6, deadline=None)
@given(SIZES)
def test_rows_that_are_read_again_cost_what_a_batch_costs(
    engine: Engine, size: tuple[int, int]
) -> None:
    items = [thing(number, *size) for number in range(PER_PARTITION)]
    fill(engine, items)
    (thing_,) = SCHEMA.entities
    other = replace(thing_, name="Other")
    rows = replace(SCHEMA.by_pattern["query"], name="rows", returns=("Other",))
    made = figures(items[0])
    keys = [{name: item[name] for name in ("PK", "SK")} for item in items]
    answer = engine.call(
        "BatchGetItem",
        {"RequestItems": {"things": {"Keys": keys}}, "ReturnConsumedCapacity": "INDEXES"},
    )
    load = replace(made.workload, patterns={"rows": PatternLoad(rate=1, page=PER_PARTITION)})
    load = replace(load, entities={**load.entities, "Other": load.entities[thing_.name]})
    schema = replace(SCHEMA, entities=(thing_, other), patterns=(*SCHEMA.patterns, rows))
    assert units(answer) == {None: read(DesignNumbers(schema, load), rows).fetched}


@settings(max_examples=6, deadline=None)
@given(SIZES)
def test_a_batch_of_writes_costs_each_of_them(engine: Engine, size: tuple[int, int]) -> None:
    fill(engine, [])
    items = [thing(number, *size) for number in range(3)]
    puts = [{"PutRequest": {"Item": item}} for item in items]
    answer = engine.call(
        "BatchWriteItem",
        {"RequestItems": {"things": puts}, "ReturnConsumedCapacity": "INDEXES"},
    )
    once = model("create Thing", items[0], atomic=False)
    assert units(answer) == {path: 3 * each for path, each in once.items()}
