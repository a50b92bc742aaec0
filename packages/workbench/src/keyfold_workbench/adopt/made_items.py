"""Generates realistic, consistent items for a design from a seed: names, prices, times,
references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from pydantic import ValidationError

from keyfold.design.design import Declarations
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.design.markers import Created, Ttl, Updated, Version
from keyfold.design.schema import Schema
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import KeyfoldError
from keyfold.review.draft import names
from keyfold.review.references import References
from keyfold_engine.values.size import item_size
from keyfold_workbench.adopt.made_values import LONG, NOW, WORDS, ValueMaker

CHILDREN = 6
"""Items per parent, if the design does not say."""
GRANDCHILDREN = 2
"""Items per grandparent."""
NEEDS = ("need", "amount")
"""Consequences that require another item to exist first."""
_ATTEMPTS = 50
_SHARE = re.compile(r"(\d+)% of the sample")


@dataclass(frozen=True)
class _Link:
    """A reference to another item, and which of its fields each own field holds."""

    target: str
    pairs: Mapping[str, str]

    @property
    def fields(self) -> set[str]:
        return {*self.pairs}

    def fits(self, parent: Entity, values: Mapping[str, Any]) -> bool:
        """Whether an item matches the values chosen so far."""
        return all(values.get(own, held) == held for own, held in self._shared_values(parent))

    def _shared_values(self, parent: Entity) -> Iterator[tuple[str, Any]]:
        for own, theirs in self.pairs.items():
            yield own, getattr(parent, theirs, None)


@dataclass
class ItemMaker:
    """Generates items of a design, parents first."""

    design: Declarations
    seed: int = 0
    schema: Schema | None = None
    """The design file, if it says more than Python does: references, shares, sizes."""
    made: dict[str, list[Entity]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.values = ValueMaker(self.random)
        self.design.complete()
        schema = self.schema or self.design.schema
        self.references, self.follows = References(schema), schema.follows
        self.stated = {self._class_name(entity.name): entity for entity in schema.entities}
        counted = {self._class_name(one.target) for one in schema.follows if one.creates}
        self.specs = {
            name: entity.__spec__
            for name, entity in self.design.entities.items()
            if entity.__spec__.role in ("canonical", "edge")
            and entity.__spec__.copy is None
            and name not in counted
        }

    def make(self, total: int, counts: Mapping[str, int] | None = None) -> list[Entity]:
        """About `total` items, all or none; `counts` fixes the number for some entities."""
        if not self.specs:
            raise KeyfoldError(f"{self.design.name} has no canonical entity to generate items for")
        for name in counts or ():
            if name not in self.specs:
                raise KeyfoldError(f"{self.design.name} has no entity {name} to generate items for")
        links = {name: self._links(spec) for name, spec in self.specs.items()}
        parents = {name: {one.target for one in found} for name, found in links.items()}
        order = _parents_first(parents)
        wanted = {**self._counts(order, parents, total), **(counts or {})}
        for name in order:
            self.made[name] = []
            seen: set[str] = set()
            for number in range(wanted[name]):
                entity = self._entity(self.specs[name], links[name], number, seen)
                if entity is None:
                    break
                self.made[name].append(entity)
        return [entity for name in order for entity in self.made[name]]

    def _counts(
        self, order: list[str], parents: Mapping[str, set[str]], total: int
    ) -> dict[str, int]:
        """The number per entity, by the shares of a sample, or more for children."""
        weights: dict[str, float] = {}
        for name in order:
            told = _SHARE.match(self.stated[name].description) if name in self.stated else None
            above = max((weights[p] for p in parents[name] if p in weights), default=0.0)
            most = above * (CHILDREN if above <= 1 else GRANDCHILDREN) or 1.0
            weights[name] = float(told[1]) or 0.5 if told else most
        scale = total / sum(weights.values())
        return {name: max(1, round(weight * scale)) for name, weight in weights.items()}

    def _class_name(self, name: str) -> str:
        """The class of an entity, whether the design or a design file names it."""
        return name if name in self.design.entities else names.class_name(name)

    def _links(self, spec: EntitySpec) -> list[_Link]:
        """The parents of an entity's items: from consequences, references and names."""
        stated = self.stated[spec.name]
        found: list[_Link] = []
        for one in self.follows:
            if one.fact in NEEDS and self._class_name(one.source) == spec.name and one.via:
                pairs = {names.field(own): names.field(theirs) for theirs, own in one.via}
                found.append(_Link(self._class_name(one.target), pairs))
        for attribute in stated.attributes:
            refers = self.references.target(stated, attribute.field)
            if refers:
                target, name = self._class_name(refers), names.field(attribute.field)
                found += [_Link(target, {name: own}) for own in self._id(target)]
        found += self._ends(spec) if spec.role == "edge" else ()
        kept = [
            one
            for one in found
            if one.target in self.specs and one.target != spec.name and one.fields <= {*spec.fields}
        ]
        return sorted(kept, key=lambda one: -len(one.pairs))

    def _ends(self, spec: EntitySpec) -> Iterator[_Link]:
        """The ends of an edge: the items in whose partitions it and its mirrors are stored."""
        mirrors = [e.__spec__ for e in self.design.entities.values() if _is_copy(e.__spec__, spec)]
        keys = [key for one in (spec, *mirrors) for key in (one.key, *one.placements.values())]
        for own in (key.templates.partition for key in keys):
            for name, home in self.specs.items():
                theirs = home.key.templates.partition
                alike = own.literal_prefix and own.literal_prefix == theirs.literal_prefix
                if alike and len(own.fields) == len(home.key.address) == 1:
                    yield _Link(name, {own.fields[0]: theirs.fields[0]})

    def _id(self, name: str) -> list[str]:
        """The field that identifies an entity's items, if one field does."""
        spec = self.specs.get(name)
        own = list(dict.fromkeys(spec.key.templates.fields)) if spec is not None else []
        return own if len(own) == 1 else []

    def _entity(
        self, spec: EntitySpec, links: list[_Link], number: int, seen: set[str]
    ) -> Entity | None:
        """A new item with a unique key; None if no more keys are available."""
        refused = None
        for _ in range(_ATTEMPTS):
            try:
                entity = spec.entity(**self._values(spec, links, number))
            except ValidationError as problem:
                refused = problem
                continue
            key = repr(spec.key_of(entity.__dict__))
            if key not in seen:
                seen.add(key)
                return self._pad(spec, entity)
        if refused is None:
            return None
        raise KeyfoldError(
            f"{spec.name}: the generated item is invalid: {in_one_line(complaints(refused))}; "
            f"exclude the entity with a count of 0: {spec.name}=0"
        )

    def _values(self, spec: EntitySpec, links: list[_Link], number: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        linked: dict[str, Entity] = {}
        for link in links:
            if link.fields <= values.keys():
                continue
            fitting = [one for one in self.made.get(link.target, ()) if link.fits(one, values)]
            if not fitting:
                continue
            others = [one for one in fitting if one is not linked.get(link.target)]
            linked[link.target] = parent = self._pick_skewed(others or fitting)
            for own, theirs in link.pairs.items():
                held = getattr(parent, theirs)
                kind = spec.fields[own].kind
                if kind.endswith("_set") or kind == "list":
                    values[own] = [held] if kind == "list" else {held}
                else:
                    values.setdefault(own, held)
        created = NOW - timedelta(seconds=self.random.expovariate(1 / (90 * 86400)))
        for name, specced in spec.fields.items():
            if name in values or self._is_left_out(specced):
                continue
            if (
                specced.optional
                and self.random.random() < 0.3
                and name not in spec.key.templates.fields
            ):
                continue
            copied = self._parent_value(name, linked)
            values[name] = made = copied or self.values.make(spec, specced, number, created)
            if isinstance(made, datetime):
                # Times increase in field order: an end comes after its start.
                created = max(created, made)
        return values

    def _is_left_out(self, specced: FieldSpec) -> bool:
        """Fields that keyfold sets itself."""
        own = any(specced.mark(mark) is not None for mark in (Version, Created, Updated, Ttl))
        return not specced.required and (own or specced.is_kept)

    def _pick_skewed(self, among: list[Entity]) -> Entity:
        """A skewed choice: a few items get most of the references."""
        place = int(len(among) * self.random.random() ** 2)
        return among[min(place, len(among) - 1)]

    def _parent_value(self, name: str, linked: Mapping[str, Entity]) -> Any:
        """`customer_name` takes the name of the referenced customer."""
        for target, parent in linked.items():
            prefix = "_".join(names.words(target)) + "_"
            if name.startswith(prefix) and name[len(prefix) :] in parent.__spec__.fields:
                return getattr(parent, name[len(prefix) :])
        return None

    def _pad(self, spec: EntitySpec, entity: Entity) -> Entity:
        """Lengthen texts to reach the item size that the design states."""
        stated = self.stated.get(spec.name)
        if stated is None or not stated.bytes:
            return entity
        missing = stated.bytes - item_size(spec.encode(entity))
        keyed = {f for p in (spec.key, *spec.placements.values()) for f in p.templates.fields}
        for name, specced in spec.fields.items():
            value = getattr(entity, name)
            free = specced.kind == "string" and name not in keyed and isinstance(value, str)
            if free and missing > 20 and names.words(name)[-1] in LONG:
                more = " ".join(self.random.choice(WORDS) for _ in range(missing // 6))
                return entity.model_copy(update={name: f"{value} {more}"})
        return entity


def _is_copy(spec: EntitySpec, of: EntitySpec) -> bool:
    return spec.copy is not None and spec.copy.of == of.name


def _parents_first(parents: Mapping[str, set[str]]) -> list[str]:
    """Each entity after those it refers to; cycles are cut where they begin."""
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in order or name in above:
            return
        for parent in sorted(parents[name]):
            visit(parent, (*above, name))
        order.append(name)

    for name in parents:
        visit(name, ())
    return order
