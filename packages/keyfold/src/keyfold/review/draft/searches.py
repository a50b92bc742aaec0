"""Vectors and searches of a design file as Python."""

from __future__ import annotations

from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Schema,
    SearchSchema,
    VectorSchema,
)
from keyfold.literals import docstring
from keyfold.review.draft import names

_PYTHON = {"number": "int"}


def vector_of(
    attribute: AttributeSchema, entity: EntitySchema, schema: Schema
) -> VectorSchema | None:
    """The vector index over an attribute."""
    table = schema.by_table[entity.table]
    return next((each for each in table.vectors if each.attribute == attribute.name), None)


def mark(vector: VectorSchema, entity: EntitySchema, schema: Schema) -> str:
    """`Vector(384, "cosine", within="owner_id")`."""
    fields = {each.name: names.field(each.field) for each in entity.attributes}
    arguments = [str(vector.dimensions), names.quoted(vector.distance)]
    if vector.within:
        arguments.append(f"within={names.quoted(fields.get(vector.within, vector.within))}")
    kinds = schema.by_table[entity.table].type_attribute
    filters = [fields.get(name, name) for name in vector.filters if name != kinds]
    if filters:
        listed = "".join(f"{names.quoted(name)}, " for name in filters)
        arguments.append(f"filters=({listed.rstrip()})")
    if vector.name != f"by_{vector.attribute}":
        arguments.append(f"index={names.quoted(vector.name)}")
    return f"Vector({', '.join(arguments)})"


def function(search: SearchSchema, schema: Schema) -> str:
    """The whole declaration of one search."""
    entity = schema.by_entity[search.entity]
    kinds = {each.field: each.type for each in entity.attributes}
    given = {names.field(one): _PYTHON.get(kinds.get(one, ""), "str") for one in search.given}
    parameters = [f"{name}: {kind}" for name, kind in given.items()]
    parameters.append("vector: list[float]")
    read = names.class_name(search.entity)
    asked = "".join(f", {name}={name}" for name in given)
    vectors = schema.by_table[search.table].vectors
    held = {each.name: each.field for each in entity.attributes}
    own = [each for each in vectors if each.attribute in held]
    chosen = next(each for each in vectors if each.name == search.index)
    if len(own) > 1:
        asked = f", field={names.quoted(names.field(held[chosen.attribute]))}{asked}"
    limit = f".limit({search.limit})" if search.limit is not None else ""
    told = (search.description or search.name).strip().splitlines()[0].rstrip(".")
    signature = names.call(
        f"def {names.field(search.name)}", parameters, tail=f" -> Nearest[{read}]:"
    )
    return (
        f"\n@design.pattern()\n{signature}\n    {docstring(f'{told[:1].upper()}{told[1:]}.')}\n"
        f"    return nearest({read}, vector{asked}){limit}\n"
    )
