"""Keys in a design file: attributes of tables and indexes, templates of entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from keyfold.design import records
from keyfold.design.condition import there
from keyfold.design.nodes import Node
from keyfold.design.schema import (
    EntitySchema,
    Index,
    KeyTemplates,
    KeyType,
    Placement,
    TableSchema,
)
from keyfold.design.template import Template, apart, template
from keyfold.settings import nearest
from keyfold_engine.limits import INDEX_KEY_ATTRIBUTES


def key_attributes(value: Node) -> dict[str, Any]:
    """`key: [PK, SK]`, or `key: {PK: S, SK: N}`."""
    types = _typed_names(value)
    names = list(types)
    if not 1 <= len(names) <= 2:
        value.refuse(f"a key has a partition attribute and perhaps a sort one, found {len(names)}")
    return {
        "partition": names[0],
        "partition_type": types[names[0]],
        "sort": names[1] if len(names) > 1 else None,
        "sort_type": types[names[1]] if len(names) > 1 else "S",
    }


def _typed_names(value: Node) -> dict[str, KeyType]:
    """`[country, city]`, or `{country: S, rent: N}`."""
    if not value.is_mapping:
        names = [one.name("a key attribute's name") for one in value.elements("key attributes")]
        return dict.fromkeys(names, "S")
    kind = records.hints(TableSchema)["sort_type"][1]
    pairs = [(n.name("a key attribute's name"), v) for n, v in value.items("key attributes")]
    return {name: records.convert(kind, v, name) for name, v in pairs}


def index_attributes(value: Node) -> dict[str, Any]:
    """The key of an index; of several attributes: `{partition: [country, city], sort: [rent]}`."""
    sides = dict(_sides(value)) if value.is_mapping else {}
    if not any(side.is_list or side.is_mapping for side in sides.values()):
        return key_attributes(value)
    if "partition" not in sides or not sides.keys() <= {"partition", "sort"}:
        value.refuse("a key of several attributes is {partition: [...], sort: [...]}")
    stated: dict[str, Any] = {}
    for side, attributes in sides.items():
        types = _typed_names(attributes)
        if not 1 <= len(types) <= INDEX_KEY_ATTRIBUTES:
            attributes.refuse(
                f"a {side} key has 1 to {INDEX_KEY_ATTRIBUTES} attributes, found {len(types)}"
            )
        stated |= {side: tuple(types), f"{side}_type": tuple(types.values())}
    return stated


def _sides(value: Node) -> Iterator[tuple[str, Node]]:
    for name, inner in value.items("key attributes"):
        yield name.text("an attribute"), inner


def key_templates(value: Node, partition: str, sort: str | None) -> KeyTemplates | None:
    if value.is_nothing:
        return None
    known = [partition, *([sort] if sort else [])]
    found: dict[str, Template] = {}
    for name, inner in value.items("key attributes with their templates"):
        word = name.text("a key attribute")
        if word not in known:
            name.refuse(f"the key has no attribute {word!r}; {nearest(word, known)}")
        found[word] = records.template(inner)
    if partition not in found:
        value.refuse(f"the key needs {partition}")
    return KeyTemplates(found[partition], found.get(sort) if sort else None)


def placements(value: Node, table: TableSchema) -> tuple[Placement, ...]:
    placed: list[Placement] = []
    names = [index.name for index in table.indexes]
    for name, inner in value.items("indexes with their keys"):
        word = name.text("an index")
        index = table.index(word)
        if index is None:
            name.refuse(f"the table {table.name} has no index {word!r}; {nearest(word, names)}")
        if inner.is_list:
            placed += [_placement(index, each) for each in inner.elements("keys")]
        else:
            placed.append(replace(_placement(index, inner), place=name.place))
    return tuple(placed)


def _placement(index: Index, value: Node) -> Placement:
    parts: dict[str, Template] = {}

    def part(attribute: str) -> Callable[[Node], dict[str, Any]]:
        def read(inner: Node) -> dict[str, Any]:
            parts[attribute] = records.template(inner)
            return {}

        return read

    own = {name: part(name) for name in index.key_attributes}
    stated = records.read(Placement, value, also=own)
    missing = [name for name in index.partition_types if name not in parts]
    given = [name for name in index.sort_types if name in parts]
    missing += [name for name in index.sort_types if given and name not in parts]
    if missing:
        value.refuse(f"the key in {index.name} needs {', '.join(missing)}")
    partition = apart([parts[name] for name in index.partition_types])
    key = KeyTemplates(partition, apart([parts[name] for name in given]) if given else None)
    return Placement(**{"name": index.name, **stated, "index": index.name, "key": key})


def plain_placements(entity: EntitySchema, table: TableSchema) -> Iterator[Placement]:
    """Indexes over plain attributes: every item with those attributes is in the index."""
    plain = {one.name: one for one in entity.attributes if one.is_stored}
    for index in table.indexes:
        if entity.placement(index.name) or not all(name in plain for name in index.key_attributes):
            continue
        held = [plain[name] for name in index.key_attributes]
        bare = {one.name: template(f"{{{one.field}}}") for one in held}
        when = tuple(attribute.field for attribute in held if attribute.optional)
        yield Placement(
            index.name, index.name, index.key_of(bare), there(*when), place=entity.place
        )
