"""pydynox's models: attributes with key templates."""

from __future__ import annotations

from typing import Any

from keyfold_workbench.adopt.sources.material import Imported
from keyfold_workbench.adopt.sources.plain_models import add_model
from keyfold.design.schema import AttributeSchema, Index
from keyfold.design.shorthand import template

_TYPES = {
    "StringAttribute": "string",
    "EnumAttribute": "string",
    "DatetimeAttribute": "string",
    "JSONAttribute": "string",
    "NumberAttribute": "decimal",
    "DecimalAttribute": "decimal",
    "VersionAttribute": "number",
    "TTLAttribute": "timestamp",
    "BooleanAttribute": "boolean",
    "BinaryAttribute": "binary",
    "StringSetAttribute": "string_set",
    "NumberSetAttribute": "number_set",
    "ListAttribute": "list",
    "MapAttribute": "map",
}


def is_model(model: type) -> bool:
    from pydynox import Model

    return issubclass(model, Model) and model is not Model and hasattr(model, "model_config")


def read(model: Any, found: Imported) -> None:
    stated = dict(model._attributes)
    disk = {name: attribute.alias or name for name, attribute in stated.items()}
    attributes = [
        _attribute(name, attribute, model, found)
        for name, attribute in stated.items()
        if not attribute.discriminator
    ]
    templates = {
        disk[name]: template(attribute.template)
        for name, attribute in stated.items()
        if getattr(attribute, "has_template", False)
    }
    marker = next((disk[n] for n, a in stated.items() if a.discriminator), None)
    sort = disk[model._sort_key] if model._sort_key else None
    indexes = [
        *(_index(index, disk, local=False) for index in model._indexes.values()),
        *(_index(index, disk, local=True) for index in model._local_indexes.values()),
    ]
    add_model(
        found,
        model.__name__,
        str(model.model_config.table),
        attributes,
        (disk[model._partition_key], sort),
        indexes,
        templates=templates,
        ttl=next((disk[n] for n, a in stated.items() if type(a).__name__ == "TTLAttribute"), None),
        version=next(
            (n for n, a in stated.items() if type(a).__name__ == "VersionAttribute"), None
        ),
        type_attribute=marker,
    )


def _attribute(name: str, attribute: Any, model: Any, found: Imported) -> AttributeSchema:
    title = type(attribute).__name__
    kind = _TYPES.get(title, "any")
    if title == "DatetimeAttribute":
        found.questions.append(
            f"{model.__name__}.{name} is a datetime, which pydynox writes in several lengths. "
            "Is one of iso, iso_ms, iso_s its format?"
        )
    elif kind == "any":
        found.questions.append(f"{model.__name__}.{name} is a {title}. How is it stored?")
    key = attribute.partition_key or attribute.sort_key
    return AttributeSchema(
        attribute.alias or name,
        name,
        kind,
        optional=not (attribute.required or key or _stands_in_key(name, model)),
        stored="epoch" if title == "TTLAttribute" else "",
    )


def _stands_in_key(name: str, model: Any) -> bool:
    for each in (model._partition_key, model._sort_key):
        if each and name in getattr(model._attributes[each], "_placeholders", ()):
            return True
    return False


def _index(index: Any, disk: dict[str, str], *, local: bool) -> Index:
    projection = index.projection
    included = tuple(projection) if isinstance(projection, list) else ()
    partition = getattr(index, "partition_key", None) or disk[next(iter(disk))]
    return Index(
        index.index_name,
        disk.get(partition, partition),
        disk.get(index.sort_key, index.sort_key) if index.sort_key else None,
        projection="INCLUDE" if included else projection,
        included=included,
        local=local,
    )
