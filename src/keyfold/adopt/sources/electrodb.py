"""ElectroDB's entities and services, as JSON of their models.

Node prints a model: `console.log(JSON.stringify(Task.schema))`, or of a service
`JSON.stringify(Object.values(service.entities).map((entity) => entity.schema))`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keyfold.adopt.serving import by_index, by_key
from keyfold.adopt.sources.imported import Imported, expect_mapping, expect_text, refuse
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


def models(data: Any) -> list[dict[str, Any]]:
    """The models of a file: one, a list, or a service with its entities; nothing if it has none."""
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
    place = Place(source, 1)
    found = Imported("ElectroDB", source)
    layout = _Layout()
    for model in models(data):
        called = str(model.get("table") or table or _service(model))
        if not model.get("table") and not table:
            question = f"Which table has the items of {_service(model)}? Its model does not say."
            if question not in found.questions:
                found.questions.append(question)
        found.entities.append(_entity(model, called, layout, found, place))
        found.name = found.name or _service(model)
    found.tables += layout.tables()
    return found


def _service(model: Mapping[str, Any]) -> str:
    return str(expect_mapping(model["model"], "model", Place("", 1)).get("service") or "service")


class _Held(dict[str, AttributeSchema]):
    """The attributes of a model, and the digits that some numbers have in keys."""

    widths: dict[str, int]


def _width(stated: Any) -> int:
    padding = stated.get("padding") if isinstance(stated, dict) else None
    if not isinstance(padding, dict) or padding.get("char") != "0":
        return 0
    return int(padding["length"]) if str(padding.get("length")).isdigit() else 0


class _Layout:
    """The tables that the models' indexes tell of."""

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


def _entity(
    model: Mapping[str, Any], table: str, layout: _Layout, found: Imported, place: Place
) -> EntitySchema:
    stated = expect_mapping(model["model"], "model", place)
    title = expect_text(stated.get("entity"), "model.entity", place)
    attributes = expect_mapping(model.get("attributes"), f"attributes of {title}", place)
    held = _Held({name: _attribute(name, each, title, found) for name, each in attributes.items()})
    held.widths = {name: width for name, each in attributes.items() if (width := _width(each))}
    key: KeyTemplates | None = None
    placements: list[Placement] = []
    patterns: list[PatternSchema] = []
    name = names.class_name(title)
    for pattern, index in expect_mapping(model["indexes"], f"indexes of {title}", place).items():
        templates, fields, types = _templates(stated, pattern, index, held, title, place)
        optional = [f for f in templates.fields if held[f].optional] if index.get("index") else []
        if index.get("index"):
            called = str(index["index"])
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
        values=(str(stated.get("version") or "1"),),
    )
    if key is None:
        refuse(model["indexes"], place, f"{title} has no primary index (one without `index`)")
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
    name: str, pattern: str, index: Mapping[str, Any], key: KeyTemplates, table: str
) -> PatternSchema:
    called = f"{name} {' '.join(names.words(pattern))}"
    if not index.get("index"):
        return by_key(called, name, table, key)
    return by_index(called, name, table, str(index["index"]), key)


def _attribute(name: str, stated: Any, title: str, found: Imported) -> AttributeSchema:
    described = stated if isinstance(stated, dict) else {"type": stated}
    kind = described.get("type", "any")
    disk = str(described.get("field") or name)
    field = name if name.isidentifier() else re.sub(r"\W", "_", name)
    optional = not described.get("required") and "default" not in described
    values: tuple[str, ...] = ()
    type_ = "any"
    if isinstance(kind, list):
        type_, values = "string", tuple(str(each) for each in kind)
    elif kind == "set":
        type_ = "number_set" if described.get("items") == "number" else "string_set"
    elif isinstance(kind, str):
        type_ = _TYPES.get(kind, "any")
    if any("," in value for value in values):
        values = ()
    if described.get("get") or described.get("set"):
        found.questions.append(f"{title}.{name} is changed by code (get or set). How is it stored?")
    return AttributeSchema(
        disk,
        field,
        type_,
        optional=optional,
        mutable=not described.get("readOnly"),
        values=values,
    )


def _templates(
    stated: Mapping[str, Any],
    pattern: str,
    index: Any,
    held: _Held,
    title: str,
    place: Place,
) -> tuple[KeyTemplates, tuple[str, str | None], tuple[KeyType, KeyType]]:
    what = f"the index {pattern} of {title}"
    index = expect_mapping(index, what, place)
    partition = expect_mapping(index.get("pk"), f"pk of {what}", place)
    sort = index.get("sk")
    service, entity = str(stated.get("service") or ""), str(stated.get("entity"))
    version = str(stated.get("version") or "1")
    collection = index.get("collection") or ()
    collections = [collection] if isinstance(collection, str) else list(collection)
    mark = f"#{entity}_{version}" if collections else f"${entity}_{version}"
    after = "".join(f"{'$' if not n else '#'}{c}" for n, c in enumerate(collections))
    clustered = index.get("type") == "clustered"
    head = f"${service}" + (f"_{index['scope']}" if index.get("scope") else "")
    if not isinstance(sort, dict):
        head += after + mark
    parts = [_template(partition, head, "", held, what, place)]
    if isinstance(sort, dict):
        start = after if clustered else after + mark
        parts.append(_template(sort, start, mark if clustered else "", held, what, place))
    fields = expect_text(partition.get("field"), f"pk.field of {what}", place)
    other = expect_text(sort.get("field"), f"sk.field of {what}", place) if sort else None
    types = [
        _key_type(part, template, held)
        for part, template in zip((partition, sort), parts, strict=False)
    ]
    kinds: list[KeyType] = [*types, "S"][:2]
    return KeyTemplates(*parts), (fields, other), (kinds[0], kinds[1])


def _key_type(part: Any, template: Template, held: Mapping[str, AttributeSchema]) -> KeyType:
    """One numeric attribute alone, without a label, is a number on disk."""
    number = template.is_bare_field and held[template.fields[0]].type in ("decimal", "number")
    return "N" if part.get("cast") == "number" or (number and part.get("cast") != "string") else "S"


def _template(
    key: Mapping[str, Any],
    head: str,
    tail: str,
    held: _Held,
    what: str,
    place: Place,
) -> Template:
    casing = key.get("casing") or "lower"
    parts: list[Part] = []
    composite = key.get("composite", key.get("facets")) or []
    written = key.get("template", composite if isinstance(composite, str) else None)
    if written is not None:
        end = 0
        for match in _SLOT.finditer(written):
            parts.append(Literal(_cased(written[end : match.start()], casing)))
            parts.append(_slot(match[1] or match[2], casing, held, what, place))
            end = match.end()
        parts.append(Literal(_cased(written[end:], casing)))
    else:
        parts.append(Literal(_cased(head, casing)))
        for name in composite:
            parts.append(Literal(_cased(f"#{name}_", casing)))
            parts.append(_slot(str(name), casing, held, what, place))
        parts.append(Literal(_cased(tail, casing)))
    return Template(tuple(_joined(parts)) or (Literal(""),))


def _slot(name: str, casing: str, held: _Held, what: str, place: Place) -> Slot:
    attribute = held.get(name)
    if attribute is None:
        refuse(None, place, f"{what} names {name!r}, which is not among the attributes")
    if attribute.type in ("decimal", "number"):
        # In a key a number has no format but its digits: keyfold takes whole ones.
        held[name] = replace(attribute, type="number")
        width = held.widths.get(name, 0)
        return Slot(attribute.field, parse_format(f"0{width}d" if width else "d"))
    format_ = {"lower": "lowercase", "default": "lowercase", "upper": "uppercase"}.get(casing, "")
    plain = attribute.type != "string"
    return Slot(attribute.field, parse_format("" if plain else format_))


def _cased(text: str, casing: str) -> str:
    if casing in ("lower", "default"):
        return text.lower()
    return text.upper() if casing == "upper" else text


def _joined(parts: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, Literal) and joined and isinstance(joined[-1], Literal):
            joined[-1] = Literal(joined[-1].text + part.text)
        elif not isinstance(part, Literal) or part.text:
            joined.append(part)
    return joined
