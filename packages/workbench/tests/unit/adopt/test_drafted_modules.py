"""Every design that `keyfold new` accepts is a module that imports, type-checks strictly, and reads
back as the same design.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from keyfold.design.file import dumps, loads
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    PatternSchema,
    Placement,
    Schema,
    SortCondition,
    StepSchema,
    TableSchema,
    TtlSchema,
    UniqueSchema,
)
from keyfold.design.template import parse_template
from keyfold.errors import KeyfoldError
from keyfold.review.draft import names
from keyfold.review.draft.declarations import declarations_of
from keyfold.review.draft.python import declaration

TYPES = (
    "any", "binary", "binary_set", "boolean", "date", "decimal", "duration", "id", "list", "map",
    "model", "number", "number_set", "signed_url", "string", "string_set", "timestamp",
)  # fmt: skip
FIELDS = (
    "name", "made_at", "roomId", "count", "Key", "from", "user-id", "query", "at", "type",
    "ref", "copy", "model_config", "model_dump",
)  # fmt: skip
READS = {
    "string": ("number", "binary"),
    "number": ("string",),
    "decimal": ("string",),
    "boolean": ("string", "number"),
    "list": ("set",),
    "string_set": ("list",),
    "timestamp": ("epoch", "epoch_ms"),
}
SENTENCES = ("", 'what "it" is', "ends with \\", "a\nb", "'''", '"""')


@st.composite
def attributes(draw: st.DrawFn, name: str) -> AttributeSchema:
    kind = draw(st.sampled_from(TYPES))
    values = draw(st.sampled_from([(), ("new", "done"), ("x",)])) if kind == "string" else ()
    states: tuple[StepSchema, ...] = ()
    if len(values) > 1 and draw(st.booleans()):
        states = (StepSchema("new", "done", draw(st.sampled_from(["", "finish"]))),)
    stored = draw(st.sampled_from(["", "iso_ms", "epoch"])) if kind == "timestamp" else ""
    reads = draw(st.lists(st.sampled_from(READS.get(kind, (None,))), max_size=1))
    if stored == "epoch" or values:
        reads = []
    return AttributeSchema(
        name=draw(st.sampled_from([name, f"{name}_x"])),
        field=name,
        type=kind,
        optional=draw(st.booleans()),
        mutable=draw(st.booleans()),
        values=values,
        stored=stored,
        reads=tuple(one for one in reads if one),  # type: ignore[misc]
        normalise=draw(st.sampled_from(["", "lower"])) if kind == "string" and not values else "",
        max_items=draw(st.none() | st.just(9)) if kind in ("list", "map", "string_set") else None,
        states=states,
        description=draw(st.sampled_from(SENTENCES)),
    )


@st.composite
def designs(draw: st.DrawFn) -> Schema:
    ttl = draw(st.sampled_from([None, "ttl"]))
    table = TableSchema(
        "main",
        indexes=(Index("By-Name", "GSI1PK", "GSI1SK"),),
        ttl=ttl,
        type_attribute=draw(st.sampled_from(["kind", None])),
        stream=draw(st.sampled_from([None, "NEW_AND_OLD_IMAGES"])),
        description=draw(st.sampled_from(SENTENCES)),
    )
    entities, patterns = [], []
    for letter in draw(st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True)):
        fields = draw(st.lists(st.sampled_from(FIELDS), max_size=4, unique=True))
        held = [draw(attributes(name)) for name in fields]
        own = AttributeSchema("ownId", "ownId", "id")
        text = [one.field for one in held if one.type in ("string", "id") and "-" not in one.field]
        text = [name for name in text if not next(a for a in held if a.field == name).optional]
        sort = draw(st.sampled_from(["META", *(f"{letter}#{{{name}}}" for name in text)]))
        key = KeyTemplates(parse_template(f"{letter}#{{ownId}}"), parse_template(sort))
        placed = KeyTemplates(parse_template(f"IN{letter}"), parse_template("{ownId}"))
        placements = (Placement("by_name", "By-Name", placed),) if draw(st.booleans()) else ()
        uniques = tuple(
            UniqueSchema(
                (name,),
                draw(st.sampled_from(["", "casefold", "one_spelling"])),
                marker=draw(
                    st.sampled_from(
                        [(), (parse_template(f"U{letter}#{{{name}}}"), parse_template("TAKEN"))]
                    )
                ),
            )
            for name in text[:1]
            if draw(st.booleans())
        )
        entities.append(
            EntitySchema(
                letter,
                "main",
                key,
                attributes=(own, *held),
                placements=placements,
                uniques=uniques,
                ttl=TtlSchema("ttl", days=3.0) if ttl and draw(st.booleans()) else None,
                per_partition=draw(st.none() | st.just(5)),
                description=draw(st.sampled_from(SENTENCES)),
            )
        )
        asked = SortCondition("eq", key.sort or key.partition)
        patterns.append(
            PatternSchema(
                f"get {letter}", (letter,), "get", "main", None, key.partition, condition=asked
            )
        )
        if placements:
            patterns.append(
                PatternSchema(
                    f"list-{letter}",
                    (letter,),
                    draw(st.sampled_from(["query", "count", "latest", "exists"])),
                    "main",
                    "By-Name",
                    placed.partition,
                    description=draw(st.sampled_from(SENTENCES)),
                )
            )
    return Schema("any-design", (table,), tuple(entities), tuple(patterns))


ALIKE = {"decimal": "number", "model": "map", "signed_url": "string"}
"""Types that a declaration in Python does not tell from another when it is documented."""


def as_told(schema: Schema) -> dict[str, Any]:
    """What readers of the module and of the file must agree about, with Python's names."""
    return {
        entity.type_name or entity.name: (
            _in_python(str(entity.key)),
            {one.name: _attribute(one, entity) for one in entity.attributes if one.name != "ttl"},
            [(placed.index, _in_python(str(placed.key))) for placed in entity.placements],
            [(len(u.fields), u.normalise, bool(u.marker)) for u in entity.uniques],
            entity.ttl and entity.ttl.days,
            entity.per_partition,
        )
        for entity in schema.entities
    }


def _attribute(one: AttributeSchema, entity: EntitySchema) -> tuple[Any, ...]:
    # A field of the key never changes; a declaration does not say it again.
    mutable = one.mutable and (entity.key is None or one.field not in entity.key.fields)
    steps = tuple((step.before, step.after, step.by) for step in one.states)
    kind = ALIKE.get(one.type, one.type)
    told = (kind, one.optional, mutable, one.values, one.stored, one.reads, steps)
    return (*told, one.normalise, one.max_items)


def _in_python(key: str) -> str:
    return re.sub(r"\{([^}]+)\}", lambda found: f"{{{names.field(found[1])}}}", key)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(designs())
def test_a_module_reads_back_as_the_same_design(schema: Schema) -> None:
    schema = loads(dumps(schema))
    try:
        text, unserved = declaration(schema)
    except KeyfoldError:
        return
    assert unserved == []
    try:
        again = declarations_of(schema, "any.yaml").schema
    except KeyfoldError as refused:
        raise AssertionError(f"{refused}\n{text}") from None
    assert as_told(again) == as_told(schema), text


@pytest.mark.long
def test_modules_type_check_strictly(tmp_path: Path) -> None:
    made: list[str] = []

    @settings(max_examples=60, deadline=None, phases=[Phase.generate], database=None)
    @given(designs())
    def collect(schema: Schema) -> None:
        try:
            made.append(declaration(schema)[0])
        except KeyfoldError:
            return

    collect()
    for number, text in enumerate(made):
        (tmp_path / f"drafted_{number}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    ran = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert len(made) > 20
    assert ran.returncode == 0, ran.stdout[-3000:]
