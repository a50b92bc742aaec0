"""Infers whose id a field holds from its name, where the design does not say."""

from __future__ import annotations

from keyfold.design.schema import EntitySchema, Schema
from keyfold.review.draft.names import words


class References:
    """The entity that each field of a design leads to."""

    def __init__(self, schema: Schema) -> None:
        self._entities = schema.by_entity
        canonical = [e for e in schema.entities if e.key is not None and e.role == "canonical"]
        self._homes = {(*words(entity.name), "id"): entity.name for entity in canonical}
        for entity in canonical:
            own = dict.fromkeys(entity.key.fields if entity.key else ())
            told = [f for f in own if f not in entity.by_field or not entity.by_field[f].refers]
            if len(told) == 1:
                self._homes.setdefault(tuple(words(told[0])), entity.name)

    def target(self, entity: EntitySchema, field: str) -> str:
        """The entity whose id this field holds, other than its own; or empty."""
        attribute = entity.by_field.get(field)
        if attribute is not None and attribute.refers:
            return attribute.refers
        found = self._homes.get(tuple(words(field)), "")
        return found if found != entity.name else ""
