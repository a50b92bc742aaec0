"""PynamoDB's models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

from keyfold.design.condition import there
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Index,
    KeyType,
    Placement,
    TableSchema,
    TtlSchema,
)
from keyfold.design.target import importing
from keyfold.design.template import Template, template
from keyfold.errors import KeyfoldError
from keyfold_engine.expressions.ast import Condition
from keyfold_workbench.adopt.sources.material import Imported

_TYPES = {
    "UnicodeAttribute": ("string", ""),
    "JSONAttribute": ("string", ""),
    "NumberAttribute": ("decimal", ""),
    "VersionAttribute": ("number", ""),
    "UTCDateTimeAttribute": ("timestamp", "iso_offset"),
    "TTLAttribute": ("timestamp", "epoch"),
    "BooleanAttribute": ("boolean", ""),
    "BinaryAttribute": ("binary", ""),
    "UnicodeSetAttribute": ("string_set", ""),
    "NumberSetAttribute": ("number_set", ""),
    "BinarySetAttribute": ("binary_set", ""),
    "ListAttribute": ("list", ""),
    "MapAttribute": ("map", ""),
    "DynamicMapAttribute": ("map", ""),
}


def read(target: str) -> Imported:
    """The models of `package.module`, or the one of `package.module:Model`."""
    name, _, wanted = target.partition(":")
    with importing(target):
        module = import_module(name)
    found = Imported("Python models", target)
    for model in _classes(module, wanted, target):
        if _is_model(model):
            _add(model, found)
    if not found.entities:
        raise KeyfoldError(f"{target}: no model of PynamoDB is declared there")
    return found


def _classes(module: ModuleType, wanted: str, target: str) -> Iterator[type]:
    if wanted:
        model = getattr(module, wanted, None)
        if not isinstance(model, type):
            raise KeyfoldError(f"{target}: {module.__name__} has no class {wanted!r}")
        yield model
        return
    yield from (
        each
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
    )


def _is_model(model: type) -> bool:
    try:
        from pynamodb.models import Model
    except ImportError:
        return False
    return issubclass(model, Model) and hasattr(getattr(model, "Meta", None), "table_name")


def _add(model: Any, found: Imported) -> None:
    attributes = list(model.get_attributes().items())
    stated = [(n, a) for n, a in attributes if type(a).__name__ != "DiscriminatorAttribute"]
    marker = next((a for _, a in attributes if type(a).__name__ == "DiscriminatorAttribute"), None)
    partition = next((a.attr_name for _, a in stated if a.is_hash_key), None)
    if partition is None:
        raise KeyfoldError(f"{model.__module__}.{model.__name__} has no hash key")
    name = str(model.Meta.table_name)
    fields = [_attribute(name, attribute, model, found) for name, attribute in stated]
    templates = {each.name: _template(each) for each in fields}
    kinds = {each.name: _key_type(each) for each in fields}
    indexes = tuple(_index(index, model) for index in model._indexes.values())
    sort = next((a.attr_name for _, a in stated if a.is_range_key), None)
    table = TableSchema(
        name,
        partition,
        sort,
        partition_type=kinds[partition],
        sort_type=kinds[sort] if sort else "S",
        indexes=indexes,
        ttl=next((a.attr_name for _, a in stated if type(a).__name__ == "TTLAttribute"), None),
        type_attribute=marker.attr_name if marker else None,
    )
    _add_table(table, found)
    key = table.key_of(templates)
    found.entities.append(
        EntitySchema(
            name=model.__name__,
            table=name,
            key=key,
            attributes=tuple(replace(a, mutable=a.field not in key.fields) for a in fields),
            placements=tuple(
                Placement(each.name, each.name, each.key_of(templates), when=_when(each, fields))
                for each in indexes
            ),
            ttl=TtlSchema(table.ttl) if table.ttl else None,
            version=next((n for n, a in stated if type(a).__name__ == "VersionAttribute"), None),
            type_name=_discriminator(model, marker),
            description=(model.__doc__ or "").strip().partition("\n")[0],
        )
    )


def _add_table(table: TableSchema, found: Imported) -> None:
    """Models of one table name its indexes together."""
    known = next((each for each in found.tables if each.name == table.name), None)
    if known is None:
        found.tables.append(table)
        return
    names = {index.name for index in known.indexes}
    more = (index for index in table.indexes if index.name not in names)
    joined = replace(known, indexes=(*known.indexes, *more))
    found.tables[found.tables.index(known)] = joined


def _template(attribute: AttributeSchema) -> Template:
    """An attribute alone, as a key."""
    format_ = f":{attribute.stored}" if attribute.stored.startswith("iso") else ""
    return template(f"{{{attribute.field}{format_}}}")


def _key_type(attribute: AttributeSchema) -> KeyType:
    if attribute.type in ("number", "decimal") or attribute.stored.startswith("epoch"):
        return "N"
    return "B" if attribute.type == "binary" else "S"


def _when(index: Index, fields: Sequence[AttributeSchema]) -> Condition | None:
    """An item without one of the attributes is not in the index."""
    optional = [a.field for a in fields if a.name in index.key_attributes and a.optional]
    return there(*optional) if optional else None


def _discriminator(model: Any, marker: Any) -> str:
    value = marker.get_discriminator(model) if marker is not None else None
    return str(value) if value and value != model.__name__ else ""


def _attribute(name: str, attribute: Any, model: Any, found: Imported) -> AttributeSchema:
    kinds = [each.__name__ for each in type(attribute).__mro__]
    kind, stored = next((_TYPES[each] for each in kinds if each in _TYPES), ("any", ""))
    own = type(attribute).__module__.partition(".")[0] != "pynamodb"
    if own and not issubclass(type(attribute), _map_attribute()):
        found.questions.append(
            f"{model.__name__}.{name} is a {type(attribute).__name__} of your own. "
            "How is it stored?"
        )
        kind, stored = {"S": "string", "N": "decimal"}.get(attribute.attr_type, kind), ""
    version = type(attribute).__name__ == "VersionAttribute"
    return AttributeSchema(
        attribute.attr_name,
        name,
        kind,
        optional=bool(attribute.null) and not version,
        stored=stored,
    )


def _map_attribute() -> type:
    from pynamodb.attributes import MapAttribute

    return MapAttribute


def _index(index: Any, model: Any) -> Index:
    """An index; its attributes may have other names in Python, but the model's on disk."""
    from pynamodb.indexes import LocalSecondaryIndex

    meta = index.Meta
    keys = meta.attributes.values()
    partition = next(a for a in keys if a.is_hash_key)
    sort = next((a for a in keys if a.is_range_key), None)
    held = {a.attr_name for a in model.get_attributes().values()}
    for each in (partition, *([sort] if sort else [])):
        if each.attr_name not in held:
            raise KeyfoldError(
                f"{model.__module__}.{model.__name__}: the index {meta.index_name} has the key "
                f"{each.attr_name}, which the model does not declare"
            )
    kind = meta.projection.projection_type
    return Index(
        str(meta.index_name),
        partition.attr_name,
        sort.attr_name if sort else None,
        partition_type=partition.attr_type,
        sort_type=sort.attr_type if sort else "S",
        projection=kind,
        included=tuple(meta.projection.non_key_attributes or ()) if kind == "INCLUDE" else (),
        local=isinstance(index, LocalSecondaryIndex),
    )
