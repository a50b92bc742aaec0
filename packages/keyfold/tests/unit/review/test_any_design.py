"""Any design, however odd, is reviewed and documented: no rule fails, nothing is cut off."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.design.condition import parse_condition
from keyfold.design.file import dumps, loads
from keyfold.design.schema import (
    AttributeSchema,
    ConsumerSchema,
    Copy,
    CounterSchema,
    Effect,
    EntitySchema,
    FeedSchema,
    Index,
    KeyTemplates,
    OperationSchema,
    PatternSchema,
    Placement,
    PlannedStep,
    Retention,
    Schema,
    SortCondition,
    Statement,
    TableSchema,
    TtlSchema,
    UniqueSchema,
)
from keyfold.design.template import Template, parse_template
from keyfold.review import docs
from keyfold.review.check import check

FIELDS = ("a", "bId", "created_at", "status")
NAMES = ("Room", "Member", "Note", "Missing")
TABLES = ("one", "two")
INDEXES = ("X", "Y")
TEMPLATES = ("A#{a}", "A#{a}#{bId}", "{a}", "B", "B#{created_at:iso}", "AB_{status}", "{bId}#C")

templates: st.SearchStrategy[Template] = st.sampled_from(TEMPLATES).map(parse_template)
names = st.sampled_from(NAMES)
fields = st.sampled_from(FIELDS)
some_fields = st.lists(fields, max_size=3).map(tuple)
some_names = st.lists(names, max_size=3).map(tuple)
attributes = st.builds(
    AttributeSchema,
    name=fields,
    field=fields,
    type=st.sampled_from(["id", "string", "number", "boolean", "timestamp", "list", "signed_url"]),
    optional=st.booleans(),
    mutable=st.booleans(),
    values=st.sampled_from([(), ("x", "y")]),
    refers=st.sampled_from(["", *NAMES]),
    looks_like=st.sampled_from(["", "{uuid}", "R#{uuid}"]),
)
keys = st.builds(KeyTemplates, templates, st.none() | templates)
placements = st.builds(
    Placement,
    name=st.sampled_from(INDEXES),
    index=st.sampled_from(INDEXES),
    key=keys,
    when=st.none() | st.just(parse_condition('a = "x"')),
)
uniques = st.builds(
    UniqueSchema, st.lists(fields, min_size=1, max_size=2).map(tuple), by=st.sampled_from(["index"])
)
entities = st.builds(
    EntitySchema,
    name=names,
    table=st.sampled_from(TABLES),
    key=st.none() | keys,
    attributes=st.lists(attributes, max_size=4, unique_by=lambda a: a.field).map(tuple),
    placements=st.lists(placements, max_size=2).map(tuple),
    role=st.sampled_from(["canonical", "pointer", "edge", "counter", "support"]),
    copy=st.none() | st.builds(Copy, names, some_fields, sync=st.sampled_from(["none", "stream"])),
    uniques=st.lists(uniques, max_size=1).map(tuple),
    owner=st.sampled_from(["", *FIELDS]),
    immutable=st.booleans(),
    per_partition=st.none() | st.integers(0, 10**6),
    peak=st.none() | st.floats(0, 10**5),
    rate=st.none() | st.floats(0, 10**5),
    bytes=st.none() | st.integers(1, 10**6),
    ttl=st.none() | st.builds(TtlSchema, st.just("ttl")),
)
conditions = st.builds(
    SortCondition,
    st.sampled_from(["none", "eq", "begins_with", "between", "gt", "ge", "lt", "le"]),
    templates,
    upper=st.none() | templates,
)
patterns = st.builds(
    PatternSchema,
    name=st.sampled_from(["p", "q", "r"]),
    entities=some_names,
    kind=st.sampled_from(["get", "query", "collection", "merge", "latest", "count", "scan"]),
    table=st.sampled_from(TABLES),
    index=st.sampled_from([None, *INDEXES]),
    partition=st.none() | templates,
    other_partitions=st.lists(templates, max_size=2).map(tuple),
    condition=conditions,
    order=st.sampled_from(["", *FIELDS]),
    returns=st.sampled_from([(), ("A",), ("Gone",)]),
    filter=st.none() | st.just(parse_condition('a = "x" AND b < 3')),
    consistent=st.booleans(),
    shows=some_fields,
    rate=st.none() | st.floats(0, 10**5),
    requests=st.none() | st.just(1),
)
effects = st.builds(
    Effect,
    st.sampled_from(["put", "create", "update", "delete", "increment"]),
    names,
    guarded=st.sampled_from([None, True, False]),
    fields=some_fields,
    each=st.booleans(),
)
operations = st.builds(
    OperationSchema,
    name=st.sampled_from(["o", "u"]),
    effects=st.lists(effects, max_size=3).map(tuple),
    parameters=some_fields,
    retried=st.booleans(),
    reads=st.sampled_from([(), ("p",), ("gone",)]),
    atomic=st.sampled_from([None, True, False]),
    batch=st.none() | st.just(100),
    needs=st.sampled_from([(), ("Lock",)]),
)
consumers = st.builds(
    ConsumerSchema,
    name=st.just("c"),
    entities=some_names,
    reads=some_fields,
    effects=st.lists(effects, max_size=2).map(tuple),
)
steps = st.builds(
    PlannedStep,
    name=st.sampled_from(["s", "t"]),
    action=st.sampled_from(["change_key", "export", "import", "backfill", "update_table"]),
    table=st.sampled_from(TABLES),
    defines=st.sampled_from([(), ("XP",)]),
    adds=st.lists(st.sampled_from(INDEXES), max_size=2).map(tuple),
)
tables = tuple(
    TableSchema(
        name,
        sort=sort,
        indexes=(Index("X", "XP", "XS", holds="owner"), Index("Y", "a", sparse=True)),
        prefixes=("A#",),
    )
    for name, sort in (("one", "SK"), ("two", None))
)


def distinct(each: st.SearchStrategy[object], most: int) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(each, max_size=most, unique_by=lambda e: e.name).map(tuple)  # type: ignore[attr-defined]


designs = st.builds(
    Schema,
    name=st.just("any"),
    tables=st.just(tables),
    entities=distinct(entities, 4),
    patterns=distinct(patterns, 3),
    counters=st.lists(
        st.builds(CounterSchema, st.just("n"), names, names, fields, floor=st.none() | st.just(0)),
        max_size=1,
    ).map(tuple),
    operations=distinct(operations, 2),
    consumers=st.lists(consumers, max_size=1).map(tuple),
    feeds=st.lists(st.builds(FeedSchema, st.just("f"), names, names), max_size=1).map(tuple),
    steps=distinct(steps, 2),
    stated=st.lists(
        st.builds(
            Statement,
            st.sampled_from(["tables", "indexes", "indexes of one", "query costs"]),
            st.sampled_from(["1", "2"]),
        ),
        max_size=2,
        unique_by=lambda each: each.about,
    ).map(tuple),
    retentions=st.lists(st.builds(Retention, names, st.none()), max_size=1).map(tuple),
)


@settings(max_examples=60)
@given(designs, st.none() | designs, st.none() | designs)
def test_no_rule_fails(schema: Schema, before: Schema | None, observed: Schema | None) -> None:
    report = check(replace(schema, before=before, observed=observed))
    assert report.crashes == ()
    assert all(finding.message and finding.suggestion for finding in report.findings)


@settings(max_examples=25)
@given(designs)
def test_the_document_is_whole(schema: Schema) -> None:
    made = docs.document(schema)
    assert docs.html(made).endswith("</html>\n")
    assert docs.markdown(made, pictures="x")
    for picture in made.pictures:
        ElementTree.fromstring(picture.svg)


@settings(max_examples=40)
@given(designs)
def test_the_design_file_says_the_same(schema: Schema) -> None:
    again = loads(dumps(schema))
    assert loads(dumps(again)) == again
