"""Whose id a field holds: as declared, or as `<entity>_id` says."""

from __future__ import annotations

from keyfold.design.schema import EntitySchema, Schema
from keyfold.review.draft.names import words


class References:
    """The entity that each field of a design leads to."""

    def __init__(self, schema: Schema) -> None:
        canonical = [e for e in schema.entities if e.key is not None and e.role == "canonical"]
        self._named = {(*words(entity.name), "id"): entity.name for entity in canonical}

    def target(self, entity: EntitySchema, field: str) -> str:
        """The entity whose id this field holds, other than its own; or empty."""
        attribute = entity.by_field.get(field)
        if attribute is not None and attribute.refers:
            return attribute.refers
        named = self._named.get(tuple(words(field)), "")
        return named if named != entity.name else ""
