"""dyntastic's models: Pydantic fields and a table's name."""

from __future__ import annotations

import types
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin
from uuid import UUID

from keyfold_workbench.adopt.sources.material import Imported
from keyfold_workbench.adopt.sources.plain_models import add_model
from keyfold.design.schema import AttributeSchema, Index

_TYPES: dict[Any, str] = {
    str: "string",
    UUID: "string",
    int: "number",
    float: "decimal",
    Decimal: "decimal",
    bool: "boolean",
    bytes: "binary",
    date: "date",
    list: "list",
    tuple: "list",
    dict: "map",
    set: "list",
}


def is_model(model: type) -> bool:
    from dyntastic import Dyntastic

    return issubclass(model, Dyntastic) and hasattr(model, "__table_name__")


def read(model: Any, found: Imported) -> None:
    name = model.__table_name__
    if callable(name):
        name = name()
    attributes = [_attribute(n, info, model, found) for n, info in model.model_fields.items()]
    by_name = {a.name: a for a in attributes}
    indexes = []
    for index in getattr(model, "__indexes__", None) or ():
        made = [each for each in (index.hash_key, index.range_key) if each]
        if all(each in by_name for each in made):
            kinds = ["N" if by_name[e].type in ("number", "decimal") else "S" for e in made]
            indexes.append(
                Index(
                    index.index_name,
                    index.hash_key,
                    index.range_key,
                    kinds[0],  # type: ignore[arg-type]
                    kinds[1] if len(kinds) > 1 else "S",  # type: ignore[arg-type]
                    projection=index.projection,
                )
            )
    if not getattr(model, "__indexes__", None):
        found.questions.append(
            f"Which indexes has the table {name}? dyntastic's models do not say."
        )
    add_model(
        found,
        model.__name__,
        str(name),
        attributes,
        (model.__hash_key__, model.__range_key__),
        indexes,
    )


def _attribute(name: str, info: Any, model: Any, found: Imported) -> AttributeSchema:
    annotation = info.annotation
    optional = False
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [each for each in get_args(annotation) if each is not type(None)]
        optional = len(inner) < len(get_args(annotation))
        annotation = inner[0] if len(inner) == 1 else Any
    values: tuple[str, ...] = ()
    base = get_origin(annotation) or annotation
    if base is Literal:
        values = tuple(str(each) for each in get_args(annotation))
        kind = "string"
    elif isinstance(base, type) and issubclass(base, Enum):
        values, kind = tuple(str(each.value) for each in base), "string"
    elif base is datetime:
        kind = "string"
        found.questions.append(
            f"{model.__name__}.{name} is a datetime, which dyntastic writes in several lengths. "
            "Is one of iso, iso_ms, iso_s its format?"
        )
    else:
        kind = _TYPES.get(base, "map" if hasattr(base, "model_fields") else "any")
    return AttributeSchema(info.alias or name, name, kind, optional=optional, values=values)
