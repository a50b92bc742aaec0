"""What keyfold knows about an entity: fields, keys, codec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as Invalid

from keyfold.design import codes, markers, schema
from keyfold.design.codec import (
    UNSTORABLE,
    Encoder,
    WireItem,
    compile_decoder,
    compile_encoder,
    encoder,
)
from keyfold.design.declaration import part, refuse
from keyfold.design.field_codec import CodecFailed
from keyfold.design.fields import FieldSpec, read_fields
from keyfold.design.home import Home
from keyfold.design.key_values import place_in_key
from keyfold.design.keys import Key
from keyfold.design.placement import On
from keyfold.design.renderer import KeyRenderer
from keyfold.design.source import caller
from keyfold.design.states import States
from keyfold.design.table import Table
from keyfold.design.validation import Validators, complaints, in_one_line, read_validators
from keyfold.errors import (
    Undecodable,
    ValueRefused,
)

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

M = TypeVar("M", bound=BaseModel)

_MAY_HOLD_MODELS = frozenset({"model", "list", "map", "any"})


class EntitySpec:
    """What keyfold knows about an entity: fields, keys, codec."""

    def __init__(self, entity: type[Entity], table: Table, type_name: str) -> None:
        self.key: Key[Any]
        self.entity = entity
        self.name = entity.__name__
        self.table = table
        self.type_name = type_name
        self.place = caller()
        self.fields = read_fields(entity, camel=table.camel, ttl=table.schema.ttl)
        self._keep_type_apart()
        self.placements: dict[str, On[Any]] = {}
        self.uniques: list[schema.UniqueSchema] = []
        self.role: schema.Role = "canonical"
        self.copy: schema.Copy | None = None
        self.per_partition: int | None = None
        self.silences: tuple[schema.Silence, ...] = ()
        self.intents: tuple[schema.Intent, ...] = ()
        self.version = self._marked_field(markers.Version)
        self.created = self._marked_field(markers.Created)
        self.updated = self._marked_field(markers.Updated)
        self.ttl = self._marked_field(markers.Ttl)

    def settle(self) -> None:
        """Complete the spec once all keys are known: fields stored only in a key, and the codec."""
        for name, field in self.fields.items():
            if field.mark(markers.InKey) is not None:
                with part(name):
                    self.fields[name] = place_in_key(self, field)
        self.states: dict[str, States[Any]] = {}
        for name, field in self.fields.items():
            states = field.mark(States)
            if states is not None:
                info = self.entity.model_fields[name]
                default = None if info.is_required() else info.get_default()
                with part(name):
                    states.bind(field, default)
                self.states[name] = states
        self.fixed = frozenset(
            name for name, field in self.fields.items() if field.mark(markers.Fixed) is not None
        )
        self.unversioned = frozenset(
            name for name, one in self.fields.items() if one.mark(markers.Unversioned) is not None
        )
        self.kept = frozenset(name for name, field in self.fields.items() if field.is_kept)
        """The fields that only maintainers write, so that they move while others edit the item."""
        self.in_keys = [name for name, field in self.fields.items() if field.reader is not None]
        self.keep_keys_apart()
        self.values_of = compile_decoder(list(self.fields.values()))
        self.attributes_of = compile_encoder(list(self.fields.values()))

    @cached_property
    def by_attribute(self) -> dict[str, FieldSpec]:
        """The fields that have their own attribute."""
        fields = self.fields.values()
        return {field.attribute: field for field in fields if field.reader is None}

    def _keep_type_apart(self) -> None:
        """Refuse a field that would overwrite the type attribute."""
        named = self.table.schema.type_attribute
        for spec in self.fields.values():
            if named is not None and spec.attribute == named:
                refuse(
                    codes.NAME_TAKEN,
                    f"{spec.name} is stored as {named!r}, which the table {self.table.name} uses "
                    "for the type of an item.",
                    "Store it under another name, or give the table another "
                    'type_attribute, as "entityType".',
                )

    def keep_keys_apart(self) -> None:
        """Refuse a field stored in an attribute that holds a composed key."""
        keys = (self.key, *self.placements.values())
        for attribute in (a for key in keys for a in key.attributes):
            field, template = self.by_attribute.get(attribute.attribute), attribute.template
            if field is None or (template.is_bare_field and template.fields == (field.name,)):
                continue
            if field.name not in template.fields or self._keeps(field.name, template.text):
                refuse(
                    codes.NAME_TAKEN,
                    f"{field.name} is stored as {attribute.attribute!r}, which holds the key "
                    f"{template.text!r}.",
                    "Store it under another name, with Annotated[..., Name(...)].",
                )

    def _keeps(self, field: str, text: str) -> bool:
        """Whether a field stores the composed key itself rather than reading its value from it."""
        info = self.entity.model_fields[field]
        annotation: Any = info.annotation
        marks = tuple(info.metadata)
        try:
            reader = TypeAdapter[Any](Annotated[(annotation, *marks)] if marks else annotation)
            return bool(reader.validate_python(text) == text)
        except Invalid:
            return False

    def _marked_field(self, kind: type) -> FieldSpec | None:
        found = [spec for spec in self.fields.values() if spec.mark(kind) is not None]
        if len(found) > 1:
            refuse(
                codes.MARKER_MISUSED,
                f"{self.name} has {kind.__name__} on {' and '.join(f.name for f in found)}.",
                "Only one field of an entity can have it.",
            )
        return found[0] if found else None

    @cached_property
    def encoders(self) -> dict[str, Encoder]:
        """The encoder of each field."""
        return {name: encoder(field) for name, field in self.fields.items()}

    @cached_property
    def bounded_fields(self) -> list[FieldSpec]:
        """The fields with a maximum number of elements."""
        return [f for f in self.fields.values() if f.mark(markers.AtMost) is not None]

    @cached_property
    def normalised_fields(self) -> list[tuple[str, Callable[[Any], Any]]]:
        """The fields with a normalised form, and their normalisers."""
        marks = ((name, field.mark(markers.Normalised)) for name, field in self.fields.items())
        return [(name, mark.function) for name, mark in marks if mark is not None]

    @cached_property
    def validators(self) -> Validators:
        """The validators of this entity and the fields they read."""
        return read_validators(self.entity)

    @cached_property
    def transient(self) -> tuple[str, ...]:
        """The fields that are never stored."""
        return tuple(name for name in self.entity.model_fields if name not in self.fields)

    @cached_property
    def key_of(self) -> KeyRenderer:
        """The wire primary key for these field values."""
        return self.key.render

    def index_attributes(self, values: Mapping[str, Any]) -> WireItem:
        """The wire index keys; an index that does not apply adds nothing."""
        found: WireItem = {}
        for placement in self.placements.values():
            if placement.applies(values):
                found.update(placement.render(values))
        return found

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Every attribute that this entity writes: fields, keys, index keys, type."""
        keys = (self.key, *self.placements.values())
        found = {attribute.attribute for key in keys for attribute in key.attributes}
        named = self.table.schema.type_attribute
        return frozenset(found | self.by_attribute.keys() | ({named} if named else set()))

    @cached_property
    def index_key_attributes(self) -> tuple[str, ...]:
        """The key attributes of all indexes of the table."""
        return tuple(n for index in self.table.schema.indexes for n in index.key_attributes)

    def undeclared_attributes(self, item: Mapping[str, Any]) -> WireItem:
        """The attributes of an item that this entity does not write: they belong to others."""
        return {name: value for name, value in item.items() if name not in self.attributes}

    def encode(self, entity: Entity, key: WireItem | None = None) -> WireItem:
        """The whole item: keys, index keys, type and attributes; a known key is not rendered
        again.
        """
        values = entity.__dict__
        try:
            item = self.attributes_of(values)
        except UNSTORABLE as refused:
            raise self._refusal_by_field(refused, values) from None
        item.update(self.index_attributes(values))
        item.update(self.key_of(values) if key is None else key)
        type_attribute = self.table.schema.type_attribute
        if type_attribute is not None and type_attribute not in item:
            item[type_attribute] = {"S": self.type_name}
        return item

    def _refusal_by_field(self, refused: Exception, values: Mapping[str, Any]) -> Exception:
        """The error for a value that cannot be stored, naming its field."""
        for name, field in self.fields.items():
            try:
                if values[name] is not None:
                    encoder(field)(values[name])
            except UNSTORABLE:
                return self.refusal(name, refused)
        return refused

    def refusal(self, field: str, refused: Exception) -> ValueRefused:
        """The error that a field's value cannot be stored."""
        return ValueRefused(f"{self.name}.{field}: {refused}", {field: str(refused)})

    @cached_property
    def decode(self) -> Callable[[WireItem], Any]:
        """The entity instance for a stored item."""
        return self.reader(self.entity, self.values_of)

    def reader(
        self, model: type[M], values_of: Callable[[WireItem], dict[str, Any]]
    ) -> Callable[[WireItem], M]:
        """`read(item)` returns a validated model, or raises an error that names the item."""
        validate = model.__pydantic_validator__.validate_python
        # Models inside an item are stored by alias; an item with plain fields only is read by name.
        by_alias = any(f.kind in _MAY_HOLD_MODELS for f in self.fields.values())

        def read(item: WireItem) -> M:
            try:
                found: M = validate(values_of(item), by_name=True, by_alias=by_alias)
            except (Invalid, KeyError, ValueError, TypeError, ArithmeticError) as problem:
                key = {a: item[a] for a in self.table.schema.key_attributes if a in item}
                fields = self._explain(problem, item)
                raise Undecodable(
                    f"the item {_show(key)} of {self.table.name} cannot be read as "
                    f"{model.__name__}: {in_one_line(fields)}",
                    key,
                    entity=self.name,
                    fields=fields,
                ) from problem
            return found

        return read

    def _explain(self, problem: Exception, item: WireItem) -> dict[str, str]:
        if isinstance(problem, Invalid):
            return complaints(problem)
        for field in self.fields.values():
            try:
                compile_decoder([field])(item)
            except (KeyError, ValueError, TypeError, ArithmeticError) as wrong:
                if isinstance(wrong, CodecFailed):
                    return {field.name: str(wrong)}
                wire = item[field.attribute]
                return {field.name: f"the attribute {field.attribute} is {wire}, not {field.kind}"}
        return {"": str(problem)}

    @cached_property
    def home(self) -> Home:
        """Where its items are, as far as the constant text of its key says."""
        texts = {a.attribute: a.template for a in self.key.attributes if a.type == "S"}
        return Home.of(texts, typed=self.table.schema.type_attribute is not None)

    def recognises(self, item: WireItem) -> bool:
        """Whether an item is one of this entity: by its type attribute, and where it is stored.

        An item of its type elsewhere is a migration's copy under another design's key.
        """
        type_attribute = self.table.schema.type_attribute
        if type_attribute is not None and type_attribute in item:
            return bool(item[type_attribute].get("S") == self.type_name) and self.home.holds(item)
        for attribute in self.key.attributes:
            value = item.get(attribute.attribute)
            if value is None:
                return False
            if attribute.type == "S" and not attribute.template.matches(value.get("S", "")):
                return False
        return True

    def describe(self) -> schema.EntitySchema:
        ttl = None
        if self.ttl is not None:
            mark = self.ttl.mark(markers.Ttl)
            ttl = schema.TtlSchema(self.ttl.attribute, mark.days, mark.after)
        return schema.EntitySchema(
            name=self.name,
            table=self.table.name,
            key=self.key.templates,
            attributes=tuple(self._describe_attributes()),
            placements=tuple(p.describe() for p in self.placements.values()),
            role=self.role,
            type_name=self.type_name,
            copy=self.copy,
            uniques=tuple(self.uniques),
            per_partition=self.per_partition,
            version=self.version.name if self.version else None,
            ttl=ttl,
            description=_first_paragraph(self.entity.__doc__),
            place=self.place,
            silences=self.silences + self.key.silences,
            intents=self.intents,
        )

    def _describe_attributes(self) -> Iterator[schema.AttributeSchema]:
        yield from (field.describe() for field in self.fields.values())
        computed = {
            name: one
            for key in (self.key, *self.placements.values())
            for name, one in key.derived.items()
            if one.computed
        }
        for one in computed.values():
            yield replace(one.field.describe(), follows=tuple(sorted(one.sources)))


def _show(key: WireItem) -> str:
    return ", ".join(f"{name}={next(iter(value.values()))!r}" for name, value in key.items())


def _first_paragraph(text: str | None) -> str:
    return re.split(r"\n\s*\n", text.strip())[0].replace("\n", " ") if text else ""
