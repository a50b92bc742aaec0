"""Determines the entity of an item, and whether the item has expired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold.design.entity_spec import EntitySpec
from keyfold.design.item_collection import Collection
from keyfold.errors import Undecodable
from keyfold.runtime.context import Context


def member_decoder(context: Context, wanted: Collection[Any]) -> Callable[[dict[str, Any]], Any]:
    """A function that decodes an item of the wanted entities, and returns None for others."""
    specs = [entity.__spec__ for entity in wanted.entities]

    def decode(item: dict[str, Any]) -> Any:
        spec = recognise(specs[0], item)
        return spec.decode(item) if spec in specs and not is_expired(context, spec, item) else None

    return decode


def declared_at(any_of_table: EntitySpec) -> Callable[[dict[str, Any]], bool]:
    """Whether an item is where its type is declared; a migration's copy under another key is not.

    Items of no declared type are kept: they are reported.
    """
    table = any_of_table.table
    type_attribute = table.schema.type_attribute or ""
    homes = {entity.__spec__.type_name: entity.__spec__.home for entity in table.entities}

    def holds(item: dict[str, Any]) -> bool:
        home = homes.get(item.get(type_attribute, {}).get("S", ""))
        return home is None or home.holds(item)

    return holds


def recognise(any_of_table: EntitySpec, item: dict[str, Any]) -> EntitySpec:
    """The entity of an item in this table."""
    for entity in any_of_table.table.entities:
        if entity.__spec__.recognises(item):
            return entity.__spec__
    key = {a: item.get(a) for a in any_of_table.table.schema.key_attributes}
    raise Undecodable(
        f"the item {key} of {any_of_table.table.name} matches no declared entity", key
    )


def is_expired(context: Context, spec: EntitySpec, item: dict[str, Any]) -> bool:
    if spec.ttl is None:
        return False
    expires = item.get(spec.ttl.attribute)
    return expires is not None and "N" in expires and float(expires["N"]) <= context.clock.now()
