"""ElectroDB's entities and services, from the JSON of their models.

Node prints a model: `console.log(JSON.stringify(Task.schema))`, or of a service
`JSON.stringify(Object.values(service.entities).map((entity) => entity.schema))`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from keyfold.design.condition import there
from keyfold.design.formats import parse_format
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    KeyType,
    PatternSchema,
    Placement,
    TableSchema,
)
from keyfold.design.source import Place
from keyfold.design.template import Literal, Part, Slot, Template
from keyfold.review.draft import names
from keyfold_workbench.adopt.plain_patterns import by_index, by_key
from keyfold_workbench.adopt.sources.material import (
    Imported,
    PlacedMapping,
    describe_value,
    identifier,
    with_place,
)

_TYPES = {
    "string": "string",
    "number": "decimal",
    "boolean": "boolean",
    "list": "list",
    "map": "map",
    "any": "any",
    "custom": "any",
}
_SLOT = re.compile(r"\$\{([^{}]+)\}|:([A-Za-z_]\w*)")
DISCRIMINATOR = "__edb_e__"
VERSION = "__edb_v__"


def models(data: Any) -> list[Any]:
    """The models of a file: one, a list, or a service with its entities; empty if none."""
    if isinstance(data, list):
        return [each for part in data for each in models(part)]
    if not isinstance(data, dict):
        return []
    if isinstance(data.get("entities"), dict):
        return models(list(data["entities"].values()))
    for member in ("schema", "model"):
        inner = data.get(member)
        if isinstance(inner, dict) and ("indexes" in inner or "schema" in inner):
            return models(inner)
    model = data.get("model")
    named = isinstance(model, dict) and "entity" in model
    return [data] if named and isinstance(data.get("indexes"), dict) else []


def read(data: Any, source: str, *, table: str = "") -> Imported:
    """Entities with the keys that ElectroDB writes."""
    found = Imported("ElectroDB", source)
    layout = _Layout()
    for model in models(with_place(data, Place(source, 1))):
        called = model.text("table", "") or table or _service(model)
        if not model.get("table") and not table:
            question = f"Which table has the items of {_service(model)}? Its model does not say."
            if question not in found.questions:
                found.questions.append(question)
        found.entities.append(_entity(model, called, layout, found))
        found.name = found.name or _service(model)
    found.tables += layout.tables()
    return found


def _service(model: PlacedMapping) -> str:
    return model.mapping("model").text("service", "") or "service"


class _Held(dict[str, AttributeSchema]):
    """The attributes of a model, and the digits of numbers in keys."""

    widths: dict[str, int]


def _width(stated: PlacedMapping) -> int:
    padding = stated.get("padding")
    if not isinstance(padding, dict) or padding.get("char") != "0":
        return 0
    return int(padding["length"]) if str(padding.get("length")).isdigit() else 0


class _Layout:
    """The tables derived from the models' indexes."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, str | None, KeyType, KeyType]] = {}
        self.indexes: dict[str, dict[str, Index]] = {}

    def tables(self) -> list[TableSchema]:
        return [
            TableSchema(
                name,
                partition,
                sort,
                partition_type=kinds[0],
                sort_type=kinds[1],
                indexes=tuple(self.indexes.get(name, {}).values()),
                type_attribute=DISCRIMINATOR,
            )
            for name, (partition, sort, *kinds) in self.keys.items()
        ]


def _entity(model: PlacedMapping, table: str, layout: _Layout, found: Imported) -> EntitySchema:
    stated = model.mapping("model")
    title = stated.text("entity")
    held = _Held()
    held.widths = {}
    if not isinstance(model.get("attributes"), PlacedMapping):
        model.refuse(
            f"expected attributes of {title}, found {describe_value(model.get('attributes'))}"
        )
    for attribute, each in model.mapping("attributes").items():
        mapped = isinstance(each, PlacedMapping)
        described = each if mapped else with_place({"type": each}, model.place)
        held[attribute] = _attribute(attribute, described, title, found)
        if width := _width(described):
            held.widths[attribute] = width
    key: KeyTemplates | None = None
    placements: list[Placement] = []
    patterns: list[PatternSchema] = []
    name = names.class_name(title)
    for pattern, index in model.each("indexes"):
        templates, fields, types = _templates(stated, pattern, index, held, title)
        by_field = {a.field: a for a in held.values()}
        optional = (
            [f for f in templates.fields if by_field[f].optional] if index.get("index") else []
        )
        if index.get("index"):
            called = index.text("index")
            local = index.get("type") == "local"
            layout.indexes.setdefault(table, {})[called] = Index(
                called, fields[0], fields[1], types[0], types[1], local=local
            )
            when = there(*dict.fromkeys(optional)) if optional else None
            placements.append(Placement(pattern, called, templates, when=when))
        else:
            key = templates
            layout.keys[table] = (fields[0], fields[1], types[0], types[1])
        patterns.append(_pattern(name, pattern, index, templates, table))
    held[VERSION] = AttributeSchema(
        VERSION,
        "electro_version",
        "string",
        mutable=False,
        values=(stated.text("version", "1"),),
    )
    if key is None:
        model.refuse(f"{title} has no primary index (one without `index`)")
    found.patterns += patterns
    fixed = {*key.fields}
    return EntitySchema(
        name=name,
        table=table,
        key=key,
        attributes=tuple(
            replace(a, mutable=a.mutable and a.field not in fixed) for a in held.values()
        ),
        placements=tuple(placements),
        type_name=title if title != name else "",
    )


def _pattern(
    name: str, pattern: str, index: PlacedMapping, key: KeyTemplates, table: str
) -> PatternSchema:
    called = f"{name} {' '.join(names.words(pattern))}"
    if not index.get("index"):
        return by_key(called, name, table, key)
    return by_index(called, name, table, str(index["index"]), key)


def _attribute(name: str, stated: PlacedMapping, title: str, found: Imported) -> AttributeSchema:
    kind = stated.get("type", "any")
    values: tuple[str, ...] = ()
    type_ = "any"
    if isinstance(kind, list):
        type_, values = "string", tuple(stated.texts("type"))
    elif kind == "set":
        type_ = "number_set" if stated.get("items") == "number" else "string_set"
    else:
        type_ = _TYPES.get(stated.text("type", "any"), "any")
    if stated.get("get") or stated.get("set"):
        found.questions.append(f"{title}.{name} is changed by code (get or set). How is it stored?")
    return AttributeSchema(
        stated.text("field", "") or name,
        identifier(name),
        type_,
        optional=not stated.get("required") and "default" not in stated,
        mutable=not stated.get("readOnly"),
        values=() if any("," in value for value in values) else values,
    )


def _templates(
    stated: PlacedMapping, pattern: str, index: PlacedMapping, held: _Held, title: str
) -> tuple[KeyTemplates, tuple[str, str | None], tuple[KeyType, KeyType]]:
    what = f"the index {pattern} of {title}"
    partition = index.mapping("pk")
    sort = index.mapping("sk") if index.get("sk") else None
    entity, version = stated.text("entity"), stated.text("version", "1")
    collections = index.texts("collection")
    mark = f"#{entity}_{version}" if collections else f"${entity}_{version}"
    after = "".join(f"{'$' if not n else '#'}{c}" for n, c in enumerate(collections))
    clustered = index.get("type") == "clustered"
    scope = index.text("scope", "")
    head = f"${stated.text('service', '')}" + (f"_{scope}" if scope else "")
    if sort is None:
        head += after + mark
    parts = [_template(partition, head, "", held, what)]
    types = [_key_type(partition, parts[0], held)]
    if sort is not None:
        start = after if clustered else after + mark
        parts.append(_template(sort, start, mark if clustered else "", held, what))
        types.append(_key_type(sort, parts[1], held))
    fields = (partition.text("field"), sort.text("field") if sort is not None else None)
    return KeyTemplates(*parts), fields, (types[0], types[1] if len(types) > 1 else "S")


def _key_type(part: PlacedMapping, template: Template, held: _Held) -> KeyType:
    """A single numeric attribute without a label is stored as a number."""
    numbers = {a.field for a in held.values() if a.type in ("decimal", "number")}
    number = template.is_bare_field and template.fields[0] in numbers
    return "N" if number and part.get("cast") != "string" else "S"


def _template(key: PlacedMapping, head: str, tail: str, held: _Held, what: str) -> Template:
    casing = key.text("casing", "lower")
    parts: list[Part] = []
    member = "composite" if "composite" in key else "facets"
    custom = isinstance(key.get(member), str)
    written = key.text("template", "") or (key.text(member) if custom else "")
    if written:
        end = 0
        for match in _SLOT.finditer(written):
            parts.append(Literal(_in_case(written[end : match.start()], casing)))
            parts.append(_slot(match[1] or match[2], casing, held, what, key))
            end = match.end()
        parts.append(Literal(_in_case(written[end:], casing)))
    else:
        parts.append(Literal(_in_case(head, casing)))
        for name in key.texts(member):
            parts.append(Literal(_in_case(f"#{name}_", casing)))
            parts.append(_slot(name, casing, held, what, key))
        parts.append(Literal(_in_case(tail, casing)))
    made = Template(tuple(_join(parts)) or (Literal(""),))
    if any(isinstance(a, Slot) and isinstance(b, Slot) for a, b in pairwise(made.parts)):
        key.refuse(f"{what} joins two attributes without a separator: {made.text}")
    return made


def _slot(name: str, casing: str, held: _Held, what: str, key: PlacedMapping) -> Slot:
    attribute = held.get(name)
    if attribute is None:
        key.refuse(f"{what} names {name!r}, which is not among the attributes")
    if attribute.type in ("decimal", "number"):
        # Numbers in ElectroDB keys have no format but their digits: keyfold accepts integers.
        held[name] = replace(attribute, type="number")
        width = held.widths.get(name, 0)
        return Slot(attribute.field, parse_format(f"0{width}d" if width else "d"))
    format_ = {"lower": "lowercase", "default": "lowercase", "upper": "uppercase"}.get(casing, "")
    plain = attribute.type != "string"
    return Slot(attribute.field, parse_format("" if plain else format_))


def _in_case(text: str, casing: str) -> str:
    if casing in ("lower", "default"):
        return text.lower()
    return text.upper() if casing == "upper" else text


def _join(parts: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, Literal) and joined and isinstance(joined[-1], Literal):
            joined[-1] = Literal(joined[-1].text + part.text)
        elif not isinstance(part, Literal) or part.text:
            joined.append(part)
    return joined
