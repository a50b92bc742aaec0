"""Uniqueness: one marker item per value, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import orjson

from keyfold.design import codes, schema
from keyfold.design.declaration import Declared
from keyfold.design.entity import Entity
from keyfold.design.field_codec import CODED
from keyfold.design.follows import Follows
from keyfold.design.formats import plain
from keyfold.design.parameter import Param
from keyfold.design.template import DELIMITER
from keyfold.errors import (
    DeclarationError,
    MigrationError,
    MissingKeyField,
    UniqueTaken,
)
from keyfold.maintain.address import WireRef, address_bytes, fetch, raw, wire_bytes
from keyfold.maintain.drift import Drift
from keyfold.maintain.fact import HOLDER, MARKERS, ClaimFact
from keyfold.maintain.reconcile import unchanged_check
from keyfold.maintain.rows import Suspect
from keyfold.maintain.structure import (
    Causes,
    Condition,
    MarkedStructure,
    Reconciled,
    Restatement,
    Shown,
)
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.intent import Marker
from keyfold.runtime.reads import SteppedRead
from keyfold.runtime.recognition import is_expired
from keyfold.runtime.writes import commit

E = TypeVar("E", bound=Entity)
_LOOKS = 3
_MANY = ("list", "map", "model", "string_set", "number_set", "binary_set", CODED)


@dataclass(frozen=True)
class Holder(SteppedRead["E | None"], Generic[E]):
    """The item with a unique value: its marker and then the item, both read consistently."""

    entity: type[E]
    unique: Unique
    values: Mapping[str, Any]

    def steps(self, context: Context) -> Flow[E | None]:
        table = context.physical(self.entity.__table__.schema)
        wanted = self.unique.text(self.values)
        if wanted is None:
            return None
        for _ in range(_LOOKS):
            marker = yield from self._item(table, self.unique.key(wanted))
            key = (marker or {}).get(HOLDER, {}).get("M")
            item = None if key is None else (yield from self._item(table, key))
            if key is None or item is None or is_expired(context, self.entity.__spec__, item):
                return None
            found: E = self.entity.__spec__.decode(item)
            if self.unique.value(found) == wanted:
                return found
            # It released the value between the two reads, possibly to another item.
        return None

    def _item(self, table: str, key: Any) -> Flow[dict[str, Any] | None]:
        request = {"TableName": table, "Key": key, "ConsistentRead": True}
        answer = yield Call("GetItem", request)
        found: dict[str, Any] | None = answer.get("Item")
        return found


@dataclass(frozen=True)
class UniqueOf(Generic[E]):
    """A unique value of an entity, which finds its holder."""

    entity: type[E]
    declared: Unique

    def __call__(self, **values: Any) -> Holder[E]:
        """The item with this value: `db.read(User.one_email(email="a@x"))`."""
        place = f"{self.entity.__name__}.{self.declared.name}"
        if set(values) != set(self.declared.names):
            raise MissingKeyField(f"{place} needs {', '.join(self.declared.names)}")
        if any(isinstance(value, Param) for value in values.values()):
            raise DeclarationError(
                codes.PATTERN_BRANCHES,
                f"{place} takes two requests, so it cannot be an access pattern.",
                suggestion="Read it with db.read, or declare an index for the pattern.",
            )
        return Holder(self.entity, self.declared, values)


class Unique(MarkedStructure, Reconciled, Declared):
    """No two items share these fields: `one_email = Unique("email", normalise=str.casefold)`.

    An item without a value in one of them is exempt.
    """

    kind = "unique"
    sync: Literal["transaction"] = "transaction"

    def __init__(self, *names: str, normalise: Callable[[str], str] | None = None) -> None:
        super().__init__()
        self.names = names
        self.normalise = normalise
        self.source: type[Entity]
        self.label = ""

    def __get__(self, instance: object, owner: type[E]) -> UniqueOf[E]:
        return UniqueOf(owner, self)

    def attach(self, entity: type[Entity]) -> None:
        if not self.names:
            raise DeclarationError(
                "K1",
                "Unique has no fields.",
                place=f"{self.place} {entity.__name__}.{self.name}",
                suggestion='Name what no two items share, as Unique("email").',
            )
        for name in self.names:
            if name not in entity.__spec__.fields:
                raise DeclarationError(
                    "K1",
                    f"Unique names the field {name!r}, which {entity.__name__} does not declare.",
                    place=f"{self.place} {entity.__name__}.{self.name}",
                    suggestion=f"Declared: {', '.join(entity.__spec__.fields)}.",
                )
            kind = entity.__spec__.fields[name].compared_kind
            if kind in _MANY:
                raise DeclarationError(
                    codes.MARKER_MISUSED,
                    f"Unique names {name}, which is of kind {kind}, which cannot be a key.",
                    place=f"{self.place} {entity.__name__}.{self.name}",
                    suggestion="Name fields with one value each; for several values, use one item "
                    "per value.",
                )
        if entity.__table__.schema.partition_type != "S":
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"{entity.__name__} is in a table whose partition key is not a string, "
                "so it cannot hold markers of unique values.",
                place=f"{self.place} {entity.__name__}.{self.name}",
                suggestion="Use a table with a text partition key.",
            )
        self.source = entity
        self.label = f"unique {entity.__name__}.{'+'.join(self.names)}"
        entity.__spec__.uniques.append(
            schema.UniqueSchema(
                self.names, _function_name(self.normalise), "marker", place=self.place
            )
        )
        entity.__table__.design.maintain(self)

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.names)

    @property
    def follows(self) -> Follows:
        spec = self.source.__spec__
        return Follows(
            name=self.label,
            kind=self.kind,
            source=spec.name,
            target="",
            fact="claim",
            fields=tuple(sorted(self.fields)),
            writes=self.names,
            normalise=_function_name(self.normalise),
            expires=spec.ttl is not None,
            place=self.place,
        )

    @classmethod
    def restate(cls, record: Follows, when: Condition) -> Restatement:  # noqa: ARG003
        names = record.writes
        return Restatement(
            record.source,
            frozenset((record.source, name) for name in names),
            body={f"one_{'_'.join(names)}": Unique(*names, normalise=_function_named(record))},
        )

    def value(self, entity: Entity | None) -> str | None:
        """The unique value as text; None if the item is exempt."""
        return None if entity is None else self.text(entity.__dict__)

    def text(self, values: Mapping[str, Any]) -> str | None:
        parts = []
        for name in self.names:
            found = values[name]
            if found is None:
                return None
            codec = self.source.__spec__.fields[name].codec
            text = plain(found if codec is None else codec.write(found))
            parts.append(self.normalise(text) if self.normalise else text)
        return DELIMITER.join(p.replace("%", "%25").replace(DELIMITER, "%23") for p in parts)

    def key(self, value: str) -> dict[str, Any]:
        """The marker's key."""
        table = self.source.__table__.schema
        key: dict[str, Any] = {table.partition: {"S": f"{self.marked_by}{value}"}}
        if table.sort is not None:
            key[table.sort] = {"S": "UNIQUE"} if table.sort_type == "S" else {"N": "0"}
        return key

    def facts(self, item: Entity) -> Iterator[ClaimFact]:
        value = self.value(item)
        if value is not None:
            table = self.source.__table__
            yield ClaimFact(table, self.key(value), item.ref(), self._refusal(item))

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        """Release the value that an item had, unless the item has it again."""
        value = self.value(old)
        if old is None or value is None or value == self.value(new):
            return
        item = yield from raw(context, old.ref())
        present = None if item is None else old.__spec__.decode(item)
        if self.value(present) == value:
            return
        guard = unchanged_check(old.ref(), item, self.fields)
        yield from commit(context, [guard, *self.writes(old, None)])

    shown_by = ()

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:  # noqa: ARG002
        yield from ()

    @property
    def marked_by(self) -> str:
        return marker_prefix(self.source.__name__, self.names)

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
            value = self.value(item)
            if item is not None and value is not None and self.key(value) == key:
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
        """A write that makes the marker right, as long as it has the holder that was found."""
        table = self.source.__table__
        condition: dict[str, Any] = {
            "ConditionExpression": "#holder = :holder",
            "ExpressionAttributeNames": {"#holder": HOLDER},
            "ExpressionAttributeValues": {":holder": {"M": drift.found}},
        }
        if drift.found is None:
            condition = {
                "ConditionExpression": "attribute_not_exists(#key)",
                "ExpressionAttributeNames": {"#key": table.schema.partition},
            }
        if right is None:
            return Marker(table, "Delete", {"Key": dict(drift.key), **condition})
        return Marker(table, "Put", {"Item": right, **condition})

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
