"""Pointers: typed copies of a canonical item, one per target, kept equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from keyfold.design import codes, schema
from keyfold.design.address import Ref
from keyfold.design.condition import evaluator, fields_of
from keyfold.design.declaration import declared_at, part, refuse
from keyfold.design.entity import Entity
from keyfold.design.fields import FieldSpec, check_copy
from keyfold.design.follows import COPIES_AT_ONCE, Follows
from keyfold.design.markers import From, Normalised
from keyfold.design.recorder import declare
from keyfold.design.table import Table
from keyfold.maintain.address import WireRef, digest, fetch, key_at, raw, ref_bytes
from keyfold.maintain.copy_fact import CopyFact
from keyfold.maintain.drift import UNKNOWN, Drift, differences
from keyfold.maintain.reconcile import reconcile, restore_copies, unchanged_check
from keyfold.maintain.row_log import Suspect
from keyfold.maintain.structure import (
    Causes,
    Condition,
    KeptStructure,
    Overflow,
    Reconciled,
    Restatement,
    Shown,
    Sync,
)
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow

C = TypeVar("C", bound=Entity)


class Pointer(Entity, Generic[C]):
    """A copy of a canonical item: fields with the same name are copied and kept equal.

    `each` names the canonical's field that lists the targets; the one field that the canonical
    lacks takes the target's value. `when` selects the items that have pointers, as `when=lambda
    post: post.public`. `overflow="stream"` leaves pointers to the consumer if one transaction
    cannot hold them all.
    """

    __maintainer__: ClassVar[PointerMaintainer]

    def __init_subclass__(
        cls,
        *,
        each: str = "",
        sync: Sync = "transaction",
        overflow: Overflow = "refuse",
        when: Callable[[Any], object] | None = None,
        **options: Any,
    ) -> None:
        super().__init_subclass__(**options)

    @classmethod
    def __pydantic_init_subclass__(
        cls,
        *,
        each: str = "",
        sync: Sync = "transaction",
        overflow: Overflow = "refuse",
        when: Callable[[Any], object] | None = None,
        table: Table | None = None,
        **options: Any,
    ) -> None:
        super().__pydantic_init_subclass__(table=table, **options)
        if table is None:
            return
        with declared_at(cls.__spec__.place, cls.__name__):
            maintainer = PointerMaintainer(_canonical(cls), cls, each, sync, overflow, when)
        cls.__maintainer__ = maintainer
        cls.__spec__.role = "pointer"
        cls.__spec__.copy = maintainer.describe()
        table.design.maintain(maintainer)


_LISTS = ("list", "string_set", "number_set", "binary_set")


class PointerMaintainer(KeptStructure, Reconciled):
    """The changes of a canonical's pointers when the canonical changes."""

    kind = "pointer"

    def __init__(
        self,
        source: type[Entity],
        pointer: type[Entity],
        each: str,
        sync: Sync,
        overflow: Overflow = "refuse",
        when: Callable[[Any], object] | None = None,
    ) -> None:
        self.source, self.pointer, self.each, self.sync = source, pointer, each, sync
        self.overflow = overflow
        self.label = f"pointer {pointer.__name__}"
        canonical, own = source.__spec__.fields, pointer.__spec__.fields
        self.when = None if when is None else declare(when, source)
        self._holds = None if self.when is None else evaluator(self.when, source.__spec__)
        if source.__spec__.role == "pointer":
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{source.__name__} is a pointer itself, and a copy of a copy would lag.",
                f"Copy the canonical, as Pointer[{_canonical(source).__name__}].",
            )
        self.origins = _origins(own, canonical, source)
        """The canonical's field of each field that is copied."""
        self.copied = tuple(self.origins)
        self.target = self._find_target()
        if overflow == "stream" and source.__table__.schema.stream is None:
            refuse(
                codes.MARKER_MISUSED,
                f"overflow='stream' leaves pointers to the stream of {source.__table__.name}, "
                "which has none.",
                "Declare the table with stream='NEW_AND_OLD_IMAGES'.",
            )
        for name, origin in self.origins.items():
            with part(name):
                _check_types(own[name], canonical[origin], source)
        # Counters move while others edit the item, so their copies move by the same amounts.
        self._counted = frozenset(
            name for name, origin in self.origins.items() if canonical[origin].is_counted
        )

    def _find_target(self) -> str:
        """The field that takes one of the values that `each` lists; empty without `each`."""
        source, each, listing = self.source.__name__, self.each, self.source.__spec__.fields
        if each and each not in listing:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"each={each!r} is not a field of {source}.",
                f"Its fields are: {', '.join(listing)}.",
            )
        targets = [name for name in self.pointer.__spec__.fields if name not in self.origins]
        if len(targets) != (1 if each else 0):
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{', '.join(targets) or 'no field'} would not be copied from {source}.",
                "A pointer has the canonical's fields, and one more for each=.",
            )
        if each and listing[each].kind not in _LISTS:
            refuse(
                codes.MARKER_MISUSED,
                f"each={each!r} is of kind {listing[each].kind}, which cannot list targets.",
                f"Make {source}.{each} a set or a list.",
            )
        return targets[0] if each else ""

    @cached_property
    def fields(self) -> frozenset[str]:
        listed = {self.each} if self.each else set()
        return frozenset(self.origins.values()) | listed | fields_of(self.when)

    def facts(self, item: Entity) -> Iterator[CopyFact]:
        if self._holds is not None and not self._holds(item.__dict__):
            return
        values = {name: getattr(item, origin) for name, origin in self.origins.items()}
        place = tuple([values[name] for name in self._placing])
        listed = (getattr(item, self.each) or ()) if self.each else None
        for target in [{}] if listed is None else [{self.target: one} for one in listed]:
            yield CopyFact(
                self.pointer, values, target, place, self._counted, self._alike, self._literal
            )

    @cached_property
    def _placing(self) -> list[str]:
        """The copied fields that are part of a pointer's key."""
        return [name for name in self.pointer.__spec__.key.address if name in self.copied]

    @cached_property
    def _alike(self) -> bool:
        """Whether a pointer surely has the canonical's values unchanged."""
        spec = self.pointer.__spec__
        if spec.validators.whole or spec.validators.fields or spec.transient:
            return False
        return all(
            _form(self.pointer, name) == _form(self.source, origin)
            for name, origin in self.origins.items()
        )

    @cached_property
    def _literal(self) -> bool:
        """Whether a pointer's key surely uses its fields unchanged."""
        spec = self.pointer.__spec__
        formats = [
            slot.format
            for attribute in spec.key.attributes
            for slot in attribute.template.slots
            if slot.field == self.target
        ]
        listed = any(one.name == "" or (one.numeric and one.name.endswith("d")) for one in formats)
        return (
            (listed or not self.each)
            and not spec.validators.whole
            and not any(_takes_forms(self.pointer, name) for name in spec.key.address)
        )

    def steady(self, touched: frozenset[str] | None) -> frozenset[str]:
        """The counters that a change of these fields copies as a whole, not by difference."""
        keyed = {self.origins.get(name, "") for name in self.pointer.__spec__.key.address}
        placing = {self.each, *keyed, *fields_of(self.when)}
        if touched is None or not placing & touched:
            return frozenset()
        return frozenset(self.origins[name] for name in self._counted)

    @property
    def shown_by(self) -> tuple[type[Entity]]:
        return (self.pointer,)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:
        yield own, digest(item), own

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        key = key_at(suspect.address)
        found = yield from fetch(context, context.design, suspect.address)
        said: dict[bytes, Entity | None] = {}
        for origin in suspect.origins or self._origin_of(found):
            canonical = yield from fetch(context, context.design, origin)
            said[origin] = self._at(suspect.address, causes, canonical)
        wanted = {origin: one for origin, one in said.items() if one is not None}
        drift = Drift(self.kind, self.label, self.pointer.__table__.name, key, None, None)
        if len({digest(one) for one in wanted.values()}) > 1:
            return replace(
                drift,
                expected=f"one {self.source.__name__}",
                found=[key_at(origin) for origin in wanted],
                decision=f"several items of {self.source.__name__} have their copy here",
            )
        one = next(iter(wanted.values()), None)
        if (None if one is None else digest(one)) == (None if found is None else digest(found)):
            return None
        expected, there = differences(one, found)
        subject = WireRef(self.source, key_at(next(iter(wanted or said)))) if said else None
        unread = self.source in causes.unread and subject is None
        decision = f"an item of {self.source.__name__} cannot be read" if unread else ""
        expected = UNKNOWN if unread else expected
        return replace(drift, expected=expected, found=there, subject=subject, decision=decision)

    def _at(self, address: bytes, causes: Causes, canonical: Entity | None) -> Entity | None:
        """The copy that a canonical has at an address."""
        if canonical is None:
            return None
        righted = causes.correct(canonical)
        assert righted is not None, "there is a canonical"
        return next((f.item for f in self.facts(righted) if ref_bytes(f.ref) == address), None)

    def _origin_of(self, copy: Entity | None) -> tuple[bytes, ...]:
        """The canonical of a copy, if the copy holds its whole key."""
        held = {origin: name for name, origin in self.origins.items()}
        fields = self.source.__spec__.key.address
        if copy is None or any(name not in held for name in fields):
            return ()
        return (ref_bytes(Ref(self.source, {name: getattr(copy, held[name]) for name in fields})),)

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        copy = WireRef(self.pointer, drift.key)
        if drift.subject is not None:
            yield from restore_copies(context, self, drift.subject, [copy])
            return
        # Its canonical is unknown, so it is deleted if it is still what was seen.
        item = yield from raw(context, copy)
        if item is not None:
            fields = frozenset(self.pointer.__spec__.fields)
            request = dict(unchanged_check(copy, item, fields).request)
            table = context.physical(self.pointer.__table__.schema)
            yield Call("DeleteItem", {"TableName": table, **request})

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        return reconcile(context, self, old, new)

    @property
    def follows(self) -> Follows:
        spec = self.source.__spec__
        return replace(
            self.record(self.pointer.__name__, "copy"),
            writes=self.copied,
            adds=tuple(sorted(self._counted)),
            each=self.each,
            when=self.when,
            overflow=self.overflow,
            expires=spec.ttl is not None,
            at_once=COPIES_AT_ONCE,
            place=self.pointer.__spec__.place,
        )

    @classmethod
    def restate(cls, record: Follows, when: Condition) -> Restatement:
        told = {*fields_of(record.when), *([record.each] if record.each else [])}
        options = {"sync": record.sync, "overflow": record.overflow, "each": record.each}
        return Restatement(
            record.target,
            frozenset((record.source, name) for name in told),
            canonical=record.source,
            options=options if when is None else {**options, "when": when},
        )

    def describe(self) -> schema.Copy:
        return schema.Copy(self.source.__name__, self.copied, self.each, self.sync)


def _canonical(pointer: type[Entity]) -> type[Entity]:
    generic = (getattr(one, "__pydantic_generic_metadata__", {}) for one in pointer.__mro__)
    named = (one for metadata in generic for one in metadata.get("args", ())[:1])
    found = next((one for one in named if isinstance(one, type) and issubclass(one, Entity)), None)
    if found is None:
        refuse(
            codes.UNKNOWN_REFERENCE,
            f"the pointer {pointer.__name__} does not say which entity it copies.",
            f"Write class {pointer.__name__}(Pointer[Canonical], ...).",
        )
    return found


def _takes_forms(entity: type[Entity], name: str) -> bool:
    """Whether a field may transform its value."""
    spec, info = entity.__spec__, entity.model_fields[name]
    return (
        info.annotation is not str
        or name in spec.validators.fields
        or any(map(_changes, info.metadata))
    )


def _form(entity: type[Entity], name: str) -> tuple[Any, list[object]]:
    """The transformation of a field's values."""
    info = entity.model_fields[name]
    return info.annotation, list(filter(_changes, info.metadata))


def _changes(mark: object) -> bool:
    """Whether a field's marker may transform its value."""
    kind = type(mark)
    return (
        isinstance(mark, Normalised)
        or kind.__module__.startswith("pydantic")
        or hasattr(kind, "__get_pydantic_core_schema__")
    )


def _origins(
    own: Mapping[str, FieldSpec],
    canonical: Mapping[str, FieldSpec],
    source: type[Entity],
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, field in own.items():
        renamed = field.mark(From)
        origin = renamed.field if renamed is not None else name
        if renamed is not None and origin not in canonical:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{name} copies {origin!r}, which is not a field of {source.__name__}.",
                f"Its fields are: {', '.join(canonical)}.",
            )
        if origin in canonical:
            found[name] = origin
    return found


def _check_types(copy: FieldSpec, origin: FieldSpec, source: type[Entity]) -> None:
    """A copy holds whatever its origin may hold."""
    may_be_empty = origin.optional and not copy.optional
    if origin.kind != copy.kind or (may_be_empty and not copy.kind.endswith("_set")):
        refuse(
            codes.MARKER_MISUSED,
            f"{copy.name} is {_kind_of(copy)}, and in {source.__name__}, of which it is a copy, "
            f"{_kind_of(origin)}.",
            "Give both the same type.",
        )
    check_copy(copy, origin)


def _kind_of(field: FieldSpec) -> str:
    return f"of kind {field.kind}{', or missing' * field.optional}"
