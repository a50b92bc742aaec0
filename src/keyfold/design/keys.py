"""`Key` and `On`: an entity's address in its table and its appearances in indexes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, overload

from typing_extensions import TypeVar

from keyfold.design import schema
from keyfold.design.condition import evaluator, tree, written
from keyfold.design.declared import Declared
from keyfold.design.derivation import Derivation, derivation
from keyfold.design.exclusion import excludes
from keyfold.design.formats import as_stored
from keyfold.design.markers import Normalised
from keyfold.design.predicate import FieldPath as FieldPath
from keyfold.design.predicate import Predicate, Test
from keyfold.design.recorder import declare
from keyfold.design.rendering import QuickKey, compile_key
from keyfold.design.signatures import Addresses, Changeable, Queries, Untyped
from keyfold.design.template import Part, Slot, Template, parse_template
from keyfold.errors import DeclarationError, KeyValueRefused, MissingKeyField, PlanError
from keyfold.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from keyfold.values.number import normalise

if TYPE_CHECKING:
    from keyfold.design.entity import Entity
    from keyfold.design.fields import FieldSpec
    from keyfold.design.read import OpenQuery

E = TypeVar("E", bound="Entity")
Silences = tuple[tuple[str, str], ...]

_NOT_IN_KEYS = ("list", "map", "model", "any", "boolean", "binary")


@dataclass(frozen=True)
class KeyAttribute:
    """One attribute of a key: its name, type and template."""

    attribute: str
    type: schema.KeyType
    template: Template
    limit: int
    whole: bool = False
    """The attribute is a number without fractions."""

    def render(self, values: Mapping[str, object], *, owner: str) -> dict[str, str]:
        """The wire value of this attribute."""
        if self.type == "B":
            return self._binary(values.get(self.template.fields[0]), owner=owner)
        if self._constant is not None:
            return {"S": self._constant}
        text = self.template.render(values, owner=owner)
        return self.value(text, owner=owner)

    @cached_property
    def _constant(self) -> str | None:
        """The text of a key that has no fields in it and is not too long."""
        text = self.template.render({}) if self.template.is_literal else None
        return None if text is None or len(text.encode()) > self.limit else text

    def value(self, text: str, *, owner: str) -> dict[str, str]:
        if self.type == "N":
            return {"N": normalise(text)}
        self._measure(len(text.encode()), owner)
        return {"S": text}

    def _binary(self, value: object, *, owner: str) -> dict[str, str]:
        field = self.template.fields[0]
        if value is None:
            raise MissingKeyField(f"{owner}: the key {self.template.text!r} needs {field}")
        if not isinstance(value, bytes) or not value:
            raise KeyValueRefused(f"{owner}: {field}={value!r} is not bytes, or is empty")
        self._measure(len(value), owner)
        return {"B": b64encode(value).decode()}

    def _measure(self, size: int, owner: str) -> None:
        if size > self.limit:
            raise KeyValueRefused(
                f"{owner}: the key attribute {self.attribute} would be {size} bytes long; "
                f"DynamoDB takes {self.limit}"
            )


P = ParamSpec("P")
T = TypeVar("T")
K_co = TypeVar("K_co", covariant=True, default=Untyped)
R_co = TypeVar("R_co", covariant=True)


class Key(Declared, Generic[K_co]):
    """The primary key: `Key("ROOM#{room_id}", "MEMBER#{user_id}")`."""

    index: str | None = None

    def __init__(
        self,
        partition: str,
        sort: str | None = None,
        *,
        escape: bool = False,
        silence: Silences = (),
    ) -> None:
        super().__init__()
        for text in (partition, *(() if sort is None else (sort,))):
            if not isinstance(text, str) or not text:
                raise DeclarationError(
                    "K1",
                    f"{text!r} cannot be a key template.",
                    place=str(self.place),
                    suggestion='Give text with the fields in braces, as "ROOM#{room_id}".',
                )
        self.templates = schema.KeyTemplates(
            parse_template(partition, place=str(self.place), escape=escape),
            parse_template(sort, place=str(self.place), escape=escape)
            if sort is not None
            else None,
        )
        self.silences = tuple(schema.Silence(code, reason) for code, reason in silence)
        self.attributes: tuple[KeyAttribute, ...] = ()
        self.derived: dict[str, Derivation] = {}
        """Its parts that are no fields, by the names under which queries give them."""
        self.held: dict[str, FieldSpec] = {}
        """What stands in it, by name."""

    # Read from a class, a key is a KeyOf. A type checker sees the declaration itself where the
    # class has written types: mypy takes a base's type over only if reading does not change it.
    @overload
    def __get__(self: Key[Untyped], instance: object, owner: type[E]) -> OpenKey[E]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> Self: ...
    def __get__(self, instance: object, owner: type[Any]) -> Any:
        return OpenKey(owner, self)

    if TYPE_CHECKING:

        def __call__(self: Key[Addresses[P, R_co]], *args: P.args, **values: P.kwargs) -> R_co: ...

        @property
        def query(self: Key[Queries[R_co]]) -> R_co: ...

    def attach(self, entity: type[Entity]) -> None:
        table = entity.__table__.schema
        self._build(entity, table.partition, table.partition_type, table.sort, table.sort_type)
        spec = entity.__spec__
        place = f"{self.place} {entity.__name__}.{self.name}"
        if "key" in spec.__dict__:
            raise DeclarationError(
                "K2",
                f"{entity.__name__} has two primary keys, {spec.key.name} and {self.name}.",
                place=place,
                suggestion='An item has one. For another order of reading use On("GSI1", ...).',
            )
        known = {*self.templates.fields} - self.derived.keys()
        free = [name for name, one in self.derived.items() if not one.sources <= known]
        if free:
            raise DeclarationError(
                "K2",
                f"the primary key uses {', '.join(free)}, which changes with fields that are not "
                "in it.",
                place=place,
                suggestion="An address has to stay: derive parts of a primary key from its own "
                'fields, or use On("GSI1", ...).',
            )
        optional = [f for f in self.address if spec.fields[f].optional]
        if optional:
            raise DeclarationError(
                "K2",
                f"the primary key uses {', '.join(optional)}, which may be missing.",
                place=place,
                suggestion="Every item needs its whole key: make the field required.",
            )
        spec.key = self

    def _build(
        self,
        entity: type[Entity],
        partition: str,
        partition_type: schema.KeyType,
        sort: str | None,
        sort_type: schema.KeyType,
    ) -> None:
        place = f"{self.place} {entity.__name__}.{self.name}"
        declared = self.held = self._fields(entity, place)
        if (sort is None) != (self.templates.sort is None):
            wanted = "only a partition key" if sort is None else "a partition and a sort key"
            raise DeclarationError(
                "K2",
                f"{self.index or entity.__table__.name} has {wanted}.",
                place=place,
                suggestion="Give one template for each of its key attributes.",
            )
        attributes = [(partition, partition_type, self.templates.partition, PARTITION_KEY_BYTES)]
        if sort is not None and self.templates.sort is not None:
            attributes.append((sort, sort_type, self.templates.sort, SORT_KEY_BYTES))
        self.attributes = tuple(
            KeyAttribute(
                name, kind, _normalising(declared, template), limit, _is_whole(declared, template)
            )
            for name, kind, template, limit in attributes
        )
        for attribute in self.attributes:
            _check_type(declared, attribute, place)

    def _fields(self, entity: type[Entity], place: str) -> dict[str, FieldSpec]:
        """What stands in the key: fields of the entity, and values that follow from them."""
        known: dict[str, FieldSpec] = {}
        self.derived = {}
        for slot in self.templates.slots:
            if slot.field in entity.__spec__.fields and not slot.path:
                known[slot.field] = entity.__spec__.fields[slot.field]
                continue
            found = derivation(entity, slot, place)
            if found is None:
                raise DeclarationError(
                    "K1",
                    f"the key names the field {slot.path or slot.field!r}, which "
                    f"{entity.__name__} does not declare.",
                    place=place,
                    suggestion=f"Declared are: {', '.join(entity.__spec__.fields)}.",
                )
            self.derived[found.name] = found
            known[found.name] = found.field
        return known

    @cached_property
    def address(self) -> tuple[str, ...]:
        """The fields that an address gives; what follows from them is not given."""
        return tuple(dict.fromkeys(f for f in self.templates.fields if f not in self.derived))

    def sources(self, names: Iterable[str]) -> set[str]:
        """The fields from which these parts of the key are made."""
        found: set[str] = set()
        for name in names:
            found |= self.derived[name].sources if name in self.derived else {name}
        return found

    def extended(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values, with those that follow from them."""
        for one in self.derived.values():
            values = one.extend(values)
        return values

    def parts_of(self, entity: Entity) -> dict[str, Any]:
        """What a query for this key of an item is given."""
        values = self.extended(entity.__dict__)
        return {name: values[name] for name in self.templates.fields}

    def render(self, values: Mapping[str, object], *, owner: str) -> dict[str, Any]:
        """The wire key for these field values."""
        values = self.extended(values) if self.derived else values
        found = None if self._quick is None else self._quick(values)
        if found is not None:
            return found
        return {a.attribute: a.render(values, owner=owner) for a in self.attributes}

    @cached_property
    def _quick(self) -> QuickKey | None:
        return compile_key(self.attributes)


class On(Key[K_co]):
    """An appearance in an index: `On("GSI1", "USER#{user_id}", "POST#{post_id}")`.

    `when` makes it sparse: the name of a field that must have a value, or a condition.
    """

    def __init__(
        self,
        index: str,
        partition: str,
        sort: str | None = None,
        *,
        when: str | tuple[str, ...] | Callable[[Any], object] = (),
        escape: bool = False,
        silence: Silences = (),
    ) -> None:
        super().__init__(partition, sort, escape=escape, silence=silence)
        self.index = index
        self._when = when
        self.condition: Predicate | None = None
        self.when: schema.Condition | None = None
        """The condition as data."""
        self._holds: Callable[[Mapping[str, Any]], bool] | None = None

    def attach(self, entity: type[Entity]) -> None:
        table = entity.__table__.schema
        place = f"{self.place} {entity.__name__}.{self.name}"
        found = table.index(self.index or "")
        if found is None:
            known = ", ".join(index.name for index in table.indexes) or "none"
            raise DeclarationError(
                "K3",
                f"the table {table.name} has no index {self.index!r}.",
                place=place,
                suggestion=f"Its indexes are: {known}.",
            )
        self._build(entity, found.partition, found.partition_type, found.sort, found.sort_type)
        self.condition = self._read_when(entity)
        if self.condition is not None:
            self.when = tree(self.condition, entity.__spec__)
            self._holds = evaluator(self.when, entity.__spec__)
        fields = self.held
        covered = self.condition.present if self.condition is not None else frozenset()
        optional = [
            f
            for f in dict.fromkeys(self.templates.fields)
            if fields[f].optional and not self.sources([f]) <= covered
        ]
        if optional:
            raise DeclarationError(
                "K3",
                f"the index key uses {', '.join(optional)}, which may be missing: "
                "such items would silently not be in the index.",
                place=place,
                suggestion="Make it required, or say so with "
                f"when={min(self.sources(optional[:1]))!r}.",
            )
        self._keep_apart(entity, place)
        entity.__spec__.placements[self.name] = self

    def _keep_apart(self, entity: type[Entity], place: str) -> None:
        """An item has one key in an index, so at most one placement may apply to it."""
        for other in entity.__spec__.placements.values():
            if other.index != self.index:
                continue
            both = [one for one in (other.when, self.when) if one is not None]
            if len(both) == 2 and excludes(both[0], both[1], entity.__spec__):
                continue
            shown = " and ".join(f"{written(one)!r}" for one in both) or "no condition"
            raise DeclarationError(
                "K3",
                f"{other.name} and {self.name} are both on {self.index}, and one item may be due "
                f"in both: nothing shows that {shown} cannot hold together."
                if len(both) == 2
                else f"{other.name} and {self.name} are both on {self.index}, and an item has one "
                "key there.",
                place=place,
                suggestion="Give each a when= that excludes the other, as "
                "when=lambda item: item.open and when=lambda item: not_(item.open).",
            )

    def _read_when(self, entity: type[Entity]) -> Predicate | None:
        names = frozenset(entity.__spec__.fields)
        if callable(self._when):
            return declare(self._when, entity, place=f"{self.place} {entity.__name__}.{self.name}")
        wanted = (self._when,) if isinstance(self._when, str) else self._when
        condition: Predicate | None = None
        for field in wanted:
            if field not in names:
                raise DeclarationError(
                    "K1",
                    f"when= names the field {field!r}, which {entity.__name__} does not declare.",
                    place=str(self.place),
                    suggestion=f"Declared are: {', '.join(sorted(names))}.",
                )
            test = Test("exists", FieldPath((field,)))
            condition = test if condition is None else condition & test
        return condition

    def applies(self, values: Mapping[str, Any]) -> bool:
        return self._holds is None or self._holds(values)

    @property
    def fields(self) -> frozenset[str]:
        """All fields that decide what this index holds for an item."""
        extra = self.condition.fields if self.condition is not None else frozenset()
        return frozenset(self.sources(self.templates.fields)) | extra

    def describe(self) -> schema.Placement:
        return schema.Placement(
            name=self.name,
            index=self.index or "",
            key=self.templates,
            when=self.when,
            place=self.place,
            silences=self.silences,
        )


def _normalising(fields: Mapping[str, FieldSpec], template: Template) -> Template:
    """The template, with values put into it as their fields store them."""
    parts: list[Part] = []
    for part in template.parts:
        field = fields[part.field] if isinstance(part, Slot) else None
        mark = None if field is None else field.mark(Normalised)
        if isinstance(part, Slot) and mark is not None:
            part = replace(part, format=part.format.after(mark.function))
        elif isinstance(part, Slot) and field is not None and field.stored:
            stored = partial(as_stored, stored=field.stored)
            part = replace(part, format=part.format.after(stored))
        parts.append(part)
    return Template(tuple(parts), template.escape)


def _is_whole(fields: Mapping[str, FieldSpec], template: Template) -> bool:
    """Whether the key is one number that has no fractions."""
    part = template.parts[0] if template.is_bare_field else None
    return isinstance(part, Slot) and (
        part.format.numeric or fields[part.field].kind in ("integer", "timestamp")
    )


def _check_type(fields: Mapping[str, FieldSpec], attribute: KeyAttribute, place: str) -> None:
    template = attribute.template
    slots = [part for part in template.parts if isinstance(part, Slot)]
    for slot in slots:
        kind, accepted = fields[slot.field].kind, slot.format.kinds
        if accepted and kind not in accepted:
            raise DeclarationError(
                "K8",
                f"{slot.field} is of kind {kind}, which the format {slot.format.name!r} in "
                f"{template.text!r} cannot write.",
                place=place,
                suggestion=f"It is for fields of kind {' or '.join(accepted)}.",
            )
    if attribute.type == "N":
        numeric = template.is_bare_field and (
            slots[0].format.numeric or fields[slots[0].field].sorts_as_number
        )
        if not numeric:
            raise DeclarationError(
                "K12",
                f"{attribute.attribute} is a number, but {template.text!r} gives text.",
                place=place,
                suggestion="Use one number field, or a time with :epoch_ms.",
            )
        return
    if attribute.type == "B":
        if not template.is_bare_field or fields[slots[0].field].kind != "binary":
            raise DeclarationError(
                "K12",
                f"{attribute.attribute} is binary, but {template.text!r} gives text.",
                place=place,
                suggestion="Use one field of type bytes, as {digest}.",
            )
        return
    for slot in slots:
        spec = fields[slot.field]
        in_order = slot.format.sortable or slot.format.coarse or slot.format.name == "d"
        if spec.kind in ("integer", "decimal", "float", "duration") and not in_order:
            raise DeclarationError(
                "K8",
                f"the number {slot.field} stands in the text key {template.text!r} without a "
                "width, so 10 sorts before 9.",
                place=place,
                suggestion=f"Give it one, as {{{slot.field}:"
                f"{'012d' if spec.kind == 'integer' else '012.2f'}}}.",
            )
        if spec.kind in _NOT_IN_KEYS or spec.kind.endswith("_set"):
            raise DeclarationError(
                "K12",
                f"{slot.field} is a {spec.kind}, which cannot be part of a text key.",
                place=place,
                suggestion="Text keys hold text, numbers and times; bytes need a key attribute "
                "of type B of their own.",
            )


@dataclass(frozen=True)
class Ref(Generic[R_co]):
    """The address of one item: `Hangout.key(hangout_id="h1")`."""

    entity: type[R_co]
    values: Mapping[str, Any]

    if TYPE_CHECKING:
        # An update by address, one of several writes, gives no item: nothing was read.
        def __writes__(
            self: Ref[Changeable[P, T]], *args: P.args, **changes: P.kwargs
        ) -> T | None: ...

    def wire(self) -> dict[str, Any]:
        return dict(self._rendered)

    @property
    def spread(self) -> str:
        """The field that stands for several items, by each(...), or nothing."""
        found = (name for name, value in self.values.items() if type(value).__name__ == "Each")
        return next(found, "")

    def refuse_several(self) -> None:
        if self.spread:
            raise PlanError(
                f"{self.entity.__name__}.key: {self.spread}=each(...) stands for several items, "
                "and an address is of one; use get_many"
            )

    @cached_property
    def _rendered(self) -> dict[str, Any]:
        for value in self.values.values():
            if type(value).__name__ == "Each":
                self.refuse_several()
        key: Key[Any] = self.entity.__spec__.key  # type: ignore[attr-defined]
        return key.render(self.values, owner=self.entity.__name__)

    def __str__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.values.items())
        return f"{self.entity.__name__}({given})"


def address(given: Ref[E]) -> Ref[E]:
    """What somebody gave as an address; anything else is refused in words."""
    if isinstance(given, Ref):
        return given
    raise PlanError(
        f"{given!r} is not an address of an item; give Order.key(order_id='1') or order.ref()"
    )


@dataclass(frozen=True)
class KeyOf(Generic[E]):
    """A key of an entity, from which reads start."""

    entity: type[E]
    declared: Key[Any]


@dataclass(frozen=True)
class OpenKey(KeyOf[E]):
    """A key of an entity without written types."""

    def __call__(self, **values: Any) -> Ref[E]:
        """The address of one item; every field of the key is needed."""
        if self.declared.index is not None:
            raise PlanError(
                f"{self.entity.__name__}.{self.declared.name} is on the index "
                f"{self.declared.index}; an item is addressed by its primary key"
            )
        wanted = set(self.declared.address)
        if set(values) != wanted:
            needed = ", ".join(sorted(wanted)) or "no fields"
            raise MissingKeyField(
                f"{self.entity.__name__}.{self.declared.name} is made of {needed}; "
                f"got {', '.join(sorted(values)) or 'none'}"
            )
        return Ref(self.entity, values)

    def query(self, **values: Any) -> OpenQuery[E]:
        """All items with these key fields: the whole partition key, and leading sort fields."""
        from keyfold.design.read import start_query

        return start_query(self, values)
