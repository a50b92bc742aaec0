"""Uniqueness: one marker item per value, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

import orjson

from keyfold.design import codes, schema
from keyfold.design.declaration import Declared, refuse
from keyfold.design.entity import Entity
from keyfold.design.field_codec import CODED
from keyfold.design.follows import Follows
from keyfold.design.formats import PLAIN, text_of
from keyfold.design.key_attribute import normalising
from keyfold.design.template import DELIMITER, Part, Slot, Template, parse_template
from keyfold.design.template import Literal as Text
from keyfold.errors import (
    MigrationError,
    UniqueTaken,
)
from keyfold.maintain.address import WireRef, address_bytes, fetch, raw, wire_bytes
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import HOLDER, MARKERS, ClaimFact
from keyfold.maintain.holder import UniqueOf
from keyfold.maintain.reconcile import unchanged_check
from keyfold.maintain.row_log import Suspect
from keyfold.maintain.structure import (
    Causes,
    Condition,
    MarkedStructure,
    Reconciled,
    Restatement,
    Shown,
)
from keyfold.runtime.context import Context
from keyfold.runtime.expression import Clauses, Expressions
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Marker
from keyfold.runtime.writes import commit

E = TypeVar("E", bound=Entity)
WireItem = dict[str, Any]
_MANY = ("list", "map", "model", "string_set", "number_set", "binary_set", CODED)


class Unique(MarkedStructure, Reconciled, Declared):
    """No two items share these fields: `one_email = Unique("email", normalise=str.casefold)`.

    An item without a value in one of them is exempt. The values are guarded by items of their own;
    `marker=("TENANT#{tenant_id}#EMAIL#{email}", "EMAIL")` says the keys of those that another
    program writes for the same values.
    """

    kind = "unique"
    sync: Literal["transaction"] = "transaction"

    def __init__(
        self,
        *names: str,
        normalise: Callable[[str], str] | None = None,
        marker: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self.names = names
        self.normalise = normalise
        self.declared = tuple(parse_template(text) for text in marker)
        """The key templates of the marker, if they are declared."""
        self.templates: tuple[Template, ...] = ()
        self.source: type[Entity]
        self.label = ""

    def __get__(self, instance: object, owner: type[E]) -> UniqueOf[E]:
        return UniqueOf(owner, self)

    def attach(self, entity: type[Entity]) -> None:
        if not self.names:
            refuse(
                "K1", "Unique has no fields.", 'Name what no two items share, as Unique("email").'
            )
        for name in self.names:
            if name not in entity.__spec__.fields:
                refuse(
                    "K1",
                    f"Unique names the field {name!r}, which {entity.__name__} does not declare.",
                    f"Declared: {', '.join(entity.__spec__.fields)}.",
                )
            kind = entity.__spec__.fields[name].compared_kind
            if kind in _MANY:
                refuse(
                    codes.MARKER_MISUSED,
                    f"Unique names {name}, which is of kind {kind}, which cannot be a key.",
                    "Name fields with one value each; for several values, use one item per value.",
                )
        if entity.__table__.schema.partition_type != "S":
            refuse(
                codes.MARKER_MISUSED,
                f"{entity.__name__} is in a table whose partition key is not a string, "
                "so it cannot hold markers of unique values.",
                "Use a table with a text partition key.",
            )
        self.source = entity
        self.label = f"unique {entity.__name__}.{'+'.join(self.names)}"
        self._check_marker(entity)
        self.templates = tuple(map(self._of_values, self.declared or self._own_marker()))
        entity.__spec__.uniques.append(
            schema.UniqueSchema(
                self.names,
                _function_name(self.normalise),
                "marker",
                self.declared,
                place=self.place,
            )
        )
        entity.__table__.design.maintain(self)

    def _check_marker(self, entity: type[Entity]) -> None:
        """A declared marker has each field once, and every key attribute of the table."""
        if not self.declared:
            return
        table = entity.__table__.schema
        used = sorted(name for one in self.declared for name in {*one.fields})
        wanted = "a partition key and a sort key" if table.sort else "a partition key"
        if len(self.declared) != len(table.key_attributes) or table.sort_type == "N":
            problem = f"The keys of {table.name} are {wanted} of text; give a template for each."
        elif {*used} != {*self.names}:
            problem = f"Use its fields: {', '.join(self.names)}."
        else:
            return
        refuse(
            codes.MARKER_MISUSED,
            f"the marker {', '.join(one.text for one in self.declared)!r} cannot guard "
            f"{' + '.join(self.names)}.",
            problem,
        )

    def _own_marker(self) -> tuple[Template, ...]:
        """The keys of keyfold's own markers."""
        parts: list[Part] = [Text(marker_prefix(self.source.__name__, self.names))]
        for name in self.names:
            parts += [Slot(name, PLAIN), Text(DELIMITER)]
        table = self.source.__table__.schema
        held = (Template(tuple(parts[:-1]), escape=True),)
        if table.sort is None:
            return held
        return (*held, Template((Text("UNIQUE" if table.sort_type == "S" else "0"),)))

    def _of_values(self, template: Template) -> Template:
        """The template, with each field as it is stored and normalised."""
        stored = normalising(self.source.__spec__.fields, template)
        if self.normalise is None:
            return stored
        normalise = self.normalise
        parts = (
            replace(part, format=part.format.after(lambda value: normalise(text_of(value))))
            if isinstance(part, Slot)
            else part
            for part in stored.parts
        )
        return replace(stored, parts=tuple(parts))

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.names)

    @property
    def follows(self) -> Follows:
        spec = self.source.__spec__
        return replace(
            self.record("", "claim"),
            writes=self.names,
            normalise=_function_name(self.normalise),
            marker=self.declared,
            expires=spec.ttl is not None,
            place=self.place,
        )

    @classmethod
    def restate(cls, record: Follows, when: Condition) -> Restatement:  # noqa: ARG003
        names = record.writes
        unique = Unique(*names, normalise=_function_named(record))
        unique.declared = record.marker
        return Restatement(
            record.source,
            frozenset((record.source, name) for name in names),
            body={f"one_{'_'.join(names)}": unique},
        )

    def key_of(self, entity: Entity | None) -> WireItem | None:
        """The key of an item's marker; None if the item is exempt."""
        return None if entity is None else self.key(entity.__dict__)

    def key(self, values: Mapping[str, Any]) -> WireItem | None:
        """The key of the marker of these values."""
        if any(values[name] is None for name in self.names):
            return None
        table = self.source.__table__.schema
        texts = (one.render(values, owner=self.label) for one in self.templates)
        types = (table.partition_type, table.sort_type)
        return {
            name: {kind: text}
            for name, kind, text in zip(table.key_attributes, types, texts, strict=False)
        }

    def marks(self, item: Mapping[str, Any]) -> bool:
        """Whether an item of no entity is one of the markers."""
        names = self.source.__table__.schema.key_attributes
        return all(
            template.matches(next(iter(item[name].values())))
            for name, template in zip(names, self.templates, strict=True)
        )

    def facts(self, item: Entity) -> Iterator[ClaimFact]:
        key = self.key_of(item)
        if key is not None:
            table, shared = self.source.__table__, bool(self.declared)
            yield ClaimFact(table, key, item.ref(), self._refusal(item), shared)

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        """Release the value that an item had, unless the item has it again."""
        key = self.key_of(old)
        if old is None or key is None or key == self.key_of(new):
            return
        item = yield from raw(context, old.ref())
        present = None if item is None else old.__spec__.decode(item)
        if self.key_of(present) == key:
            return
        guard = unchanged_check(old.ref(), item, self.fields)
        yield from commit(context, [guard, *self.writes(old, None)])

    shown_by = ()

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:  # noqa: ARG002
        yield from ()

    def shows_marker(self, item: dict[str, Any]) -> tuple[bytes, bytes]:
        names = self.source.__table__.schema.key_attributes
        key = {name: item[name] for name in names}
        return wire_bytes(key), wire_bytes(item.get(HOLDER, {}).get("M", {}))

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:  # noqa: ARG002
        key = orjson.loads(suspect.address)
        marker = yield from raw(context, WireRef(self.source, key))
        held = (marker or {}).get(HOLDER, {}).get("M")
        holders = list(suspect.origins)
        if not holders and held is not None:
            holders = [address_bytes(self.source.__name__, held)]
        owners = []
        for origin in holders:
            item = yield from fetch(context, context.design, origin)
            if item is not None and self.key_of(item) == key:
                owners.append(item.ref())
        table = self.source.__table__.name
        if len(owners) > 1:
            found = [owner.wire() for owner in owners]
            reason = "several items have the value"
            return Drift(self.kind, self.label, table, key, "one holder", found, decision=reason)
        subject = owners[0] if owners else None
        expected = None if subject is None else subject.wire()
        if expected == held:
            return None
        return Drift(self.kind, self.label, table, key, expected, held, subject)

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        checks, right = [], None
        if drift.subject is not None:
            item = yield from raw(context, drift.subject)
            checks.append(unchanged_check(drift.subject, item, self.fields))
            right = self._marker(drift, item)
            if right is None:
                return  # it has another value by now
        if drift.found is not None:
            holder = WireRef(self.source, drift.found)
            item = yield from raw(context, holder)
            if self._marker(drift, item) is not None:
                return
            checks.append(unchanged_check(holder, item, self.fields))
        yield from commit(context, [*checks, self._replace(drift, right)])

    def _marker(self, drift: Drift, item: dict[str, Any] | None) -> dict[str, Any] | None:
        """The marker that an item asks for, if it is the one that a drift is about."""
        if item is None:
            return None
        facts = self.facts(self.source.__spec__.decode(item))
        return next((fact.marker for fact in facts if fact.key == drift.key), None)

    def _replace(self, drift: Drift, right: dict[str, Any] | None) -> Marker:
        """A write that makes the marker right, as long as it has the holder that was found.

        What another program has written into it stays.
        """
        table, expressions = self.source.__table__, Expressions()
        held = {} if drift.found is None else {HOLDER: {"M": drift.found}}
        [unchanged] = expressions.unchanged([HOLDER], held)
        clauses = Clauses(expressions)
        for name, value in (right or {}).items():
            if name not in drift.key:
                clauses.attribute(name, value)
        request = {
            "Key": dict(drift.key),
            "ConditionExpression": unchanged,
            **expressions.placeholders(),
        }
        if right is None:
            return Marker(table, "Delete", request)
        return Marker(table, "Update", {**request, "UpdateExpression": clauses.text()})

    def _refusal(self, new: Entity) -> Callable[[Mapping[str, Any] | None], Exception]:
        def refusal(item: Mapping[str, Any] | None) -> Exception:
            shown = ", ".join(f"{name}={getattr(new, name)!r}" for name in self.names)
            holder = (item or {}).get(HOLDER, {}).get("M", {})
            held = ", ".join(str(next(iter(v.values()))) for v in holder.values())
            return UniqueTaken(
                f"{self.source.__name__}: {shown} is taken by the item {held or 'of another'}",
                field=self.names[0],
                holder=holder,
            )

        return refusal


def marker_prefix(entity: str, names: Sequence[str]) -> str:
    """The prefix of a unique's marker keys."""
    return f"{MARKERS}{entity}{DELIMITER}{'+'.join(names)}{DELIMITER}"


def _function_name(function: Callable[[str], str] | None) -> str:
    return getattr(function, "__name__", "") if function is not None else ""


def _function_named(record: Follows) -> Callable[[str], str] | None:
    """The function that normalises a value, by its name."""
    from keyfold.design.spelling import normaliser

    found = normaliser(record.normalise)
    if found is None and record.normalise:
        raise MigrationError(
            f"{record.name} is normalised by {record.normalise}, which a plan cannot store; use "
            "one_spelling, or a function of str, as str.casefold"
        )
    return found
