"""Which colour and which two letters an entity has: one colour for one thing, on every page."""

from __future__ import annotations

import re
from collections import Counter as Tally
from dataclasses import dataclass

from keyfold.design.schema import EntitySchema, Schema
from keyfold.review.draft.names import words
from keyfold.review.references import References
from keyfold_workbench.studio.markup import Html, el

COLOURS = 8
UNKNOWN = el("span.chip.unknown.e0", "?", aria_hidden="true")


@dataclass(frozen=True)
class Mark:
    """How an entity looks."""

    colour: str
    letters: str
    shape: str
    """copy, support, or nothing for a canonical."""

    @property
    def chip(self) -> Html:
        classes = " ".join(("chip", self.colour, *((self.shape,) if self.shape else ())))
        return el("span", self.letters, class_=classes, aria_hidden="true")


class Palette:
    """The marks of a design's entities, and whose id each field holds."""

    def __init__(self, schema: Schema) -> None:
        self._references = References(schema)
        self._entities = schema.by_entity
        self._inferred = _inferred(schema, self._references)
        colours = self._colours(schema)
        letters: set[str] = set()
        self.marks: dict[str, Mark] = {}
        for entity in schema.entities:
            copied = entity.copy.of if entity.copy else ""
            short = _letters(entity.name, letters)
            letters.add(short)
            shape = "copy" if entity.copy else "support" if entity.role == "support" else ""
            colour = colours.get(copied or entity.name, "e0")
            self.marks[entity.name] = Mark(colour, short, shape)

    def chip(self, entity: str) -> Html:
        found = self.marks.get(entity)
        return UNKNOWN if found is None else found.chip

    def colour(self, entity: str) -> str:
        found = self.marks.get(entity)
        return "e0" if found is None else found.colour

    def target(self, entity: EntitySchema, field: str) -> str:
        """The entity that a field leads to: another one, or its own where it is its id."""
        found = self._named(entity, field) or self._inferred.get((entity.name, field), "")
        if found in self._entities:
            return found
        if field.endswith("_ids"):
            return self.target(entity, field[:-1])
        if entity.copy is not None and field in entity.copy.fields:
            return self.target(self._entities[entity.copy.of], field)
        own = entity.key is not None and field in entity.key.fields and field.endswith("id")
        return entity.name if own and not entity.copy else ""

    def _named(self, entity: EntitySchema, field: str) -> str:
        """By what the field is called: target_account_id is the id of an account.

        One word, as id or name, does not say whose it is.
        """
        attribute = entity.by_field.get(field)
        if attribute is not None and attribute.refers:
            return attribute.refers
        parts = words(field)
        ends = ("_".join(parts[at:]) for at in range(len(parts) - 1))
        return next(filter(None, (self._references.target(entity, end) for end in ends)), "")

    def _colours(self, schema: Schema) -> dict[str, str]:
        """Entities whose ids are in most keys of others have one, then those declared first."""
        used: Tally[str] = Tally()
        for entity in schema.entities:
            keys = [entity.key, *(placement.key for placement in entity.placements)]
            for key in filter(None, keys):
                targets = {self.target(entity, field) for field in key.fields}
                used.update(targets - {entity.name})
        owners = [e.name for e in schema.entities if e.copy is None and e.role != "support"]
        chosen = set(sorted(owners, key=lambda name: -used[name])[:COLOURS])
        ranked = [name for name in owners if name in chosen]
        return {name: f"e{place}" for place, name in enumerate(ranked, 1)}


def _inferred(schema: Schema, named: References) -> dict[tuple[str, str], str]:
    """Fields that lead somewhere by their place: in a key of that shape, or in what follows."""
    homes: dict[str, str] = {}
    for entity in schema.entities:
        fields = set(entity.key.fields) if entity.key else set()
        if entity.key is not None and entity.copy is None and len(fields) == 1:
            homes.setdefault(entity.key.partition.literal_prefix, entity.name)
    found: dict[tuple[str, str], str] = {}
    for entity in schema.entities:
        for placement in entity.placements:
            template = placement.key.partition
            home = homes.get(template.literal_prefix) if template.literal_prefix else None
            if home is not None and len(template.fields) == 1:
                found.setdefault((entity.name, template.fields[0]), home)
    for follows in schema.follows:
        if follows.target and follows.fact == "amount" and len(follows.via) == 1:
            [(own, field)] = follows.via
            # What is counted on an item that belongs to another belongs to that one.
            home = named.target(schema.by_entity[follows.target], own) or follows.target
            found.setdefault((follows.source, field), home)
    return found


def _letters(name: str, taken: set[str]) -> str:
    capitals: list[str] = re.findall(r"[A-Z]", name)
    wanted = [capitals[0] + capitals[1]] if len(capitals) > 1 else []
    first = name[:1].upper()
    wanted += [first + other.lower() for other in name[1:] if other.isalnum()]
    wanted += [first + str(number) for number in range(1, 100)]
    return next(one for one in wanted if one not in taken)
