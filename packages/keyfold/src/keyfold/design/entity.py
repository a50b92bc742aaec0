"""Entities: Pydantic models that know their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from keyfold.design import codes, schema
from keyfold.design.address import Ref
from keyfold.design.declaration import Declared, declared_at, part, refuse
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.field_kind import unwrap
from keyfold.design.keys import Silences
from keyfold.design.markers import FieldMarker, Stored, StructureMarker, Transient
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.signatures import Changeable
from keyfold.design.source import caller
from keyfold.design.table import Table

E = TypeVar("E", bound="Entity")
P = ParamSpec("P")
T = TypeVar("T")
_NO_SCHEMAS = ("computed_fields", "config", "default", "definitions", "metadata", "serialization")
"""Members of Pydantic's core schemas in which no stored value has its schema."""

# A name instead of a literal: Pydantic's mypy plugin reads literals and would make the fields of
# drafts read-only. They are still frozen at run time.
_VALUES: ConfigDict = ConfigDict(
    ignored_types=(Declared, FieldMarker),
    alias_generator=to_camel,
    populate_by_name=True,
    frozen=True,
    extra="forbid",
)


class Entity(BaseModel):
    """A kind of item. Subclass it with `table=`, declare fields, and give it a `Key`.

    `on_purpose={"shared key": "users and organisations are accounts"}` tells the reviewer about
    deliberate choices. `per_partition` is the maximum number per partition, for the reviewer.

    Entities are immutable values; change them through `db.update`.
    """

    model_config = _VALUES
    __spec__: ClassVar[EntitySpec]
    __table__: ClassVar[Table]
    __version_field__: ClassVar[str | None] = None

    def __init_subclass__(
        cls,
        *,
        table: Table | None = None,
        type_name: str | None = None,
        per_partition: int | None = None,
        silence: Silences = (),
        on_purpose: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        if options:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{cls.__name__} has unknown options: {', '.join(options)}.",
                "An entity takes table, type_name, per_partition, silence and "
                "on_purpose; a pointer each, when, sync and overflow too.",
            )
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls,
        *,
        table: Table | None = None,
        type_name: str | None = None,
        per_partition: int | None = None,
        silence: Silences = (),
        on_purpose: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__pydantic_init_subclass__(**options)
        if table is None:
            return
        with declared_at(caller(), cls.__name__):
            if not isinstance(table, Table):
                refuse(
                    codes.UNKNOWN_REFERENCE,
                    f"{cls.__name__} has table={table!r}, which is not a table.",
                    'Pass the result of design.table("...").',
                )
            _check_attributes(cls)
            _refuse_serializers(cls)
            cls.__table__ = table
            spec = EntitySpec(cls, table, type_name or cls.__name__)
            spec.silences = tuple(schema.Silence(code, reason) for code, reason in silence)
            spec.per_partition = per_partition
            spec.intents = _intents(on_purpose or {}, cls.__name__)
            cls.__spec__ = spec
            cls.__version_field__ = spec.version.name if spec.version else None
            for declared in _declarations(cls):
                with declared_at(declared.place, f"{cls.__name__}.{declared.name}"):
                    _own(cls, declared).attach(cls)
            if "key" not in spec.__dict__:
                refuse(
                    "K2",
                    f"{cls.__name__} has no key.",
                    'Declare one, as key = Key("ROOM#{room_id}", "ROOM").',
                )
            spec.settle()
            table.design.register(cls)
            for name, field in spec.fields.items():
                for mark in field.marks:
                    if isinstance(mark, StructureMarker):
                        with declared_at(spec.place, f"{cls.__name__}.{name}"):
                            mark.attach_field(cls, name)

    if TYPE_CHECKING:

        def __changes__(
            self,
            *args: PathChange[Self],
            where: Callable[[Self], object] | None = None,
            expected_version: int | None = None,
            refuse: Exception | None = None,
            **changes: Any,
        ) -> Self:
            """The signature of `db.update` for this entity; generated types narrow it."""

        def __writes__(self: Changeable[P, T], *args: P.args, **changes: P.kwargs) -> T:
            """The signature of `update` in transactions."""

        def __moves__(self, *args: Any, **changes: Any) -> Self:
            """The signature of `db.move`."""

    def ref(self: E) -> Ref[E]:
        """This item's address."""
        spec = self.__spec__
        return Ref(type(self), {f: getattr(self, f) for f in spec.key.address})


# For entities with fields: Pydantic reads a class's source for them, which takes this class 8 ms.
Entity.model_config["use_attribute_docstrings"] = True


def _declarations(cls: type) -> list[Declared]:
    """Declarations of the class and its parents, nearest first, each name once."""
    found: dict[str, Declared] = {}
    for owner in cls.__mro__:
        for name, value in vars(owner).items():
            if isinstance(value, Declared) and name not in found:
                found[name] = value
    return sorted(found.values(), key=lambda declared: isinstance(declared, On))


def _check_attributes(cls: type[Entity]) -> None:
    for name in cls.model_fields:
        if hasattr(Entity, name) and name.startswith(("ref", "model_")):
            with part(name):
                refuse(
                    codes.NAME_TAKEN,
                    f"the field {name} hides {name} of Entity, which keyfold calls.",
                    f"Give it another name, as {name}_: Annotated[..., Name({name!r})].",
                )
    for name, value in vars(cls).items():
        if isinstance(value, FieldMarker):
            with part(name):
                call = f"{type(value).__name__}(...)"
                refuse(
                    codes.MARKER_MISUSED,
                    f"{name} = {call} marks no field.",
                    f"Give the field a type: {name}: Annotated[..., {call}].",
                )


def _refuse_serializers(cls: type[Entity]) -> None:
    """Items are stored by the kinds of their fields: what a serializer makes, such as a cipher,
    would be lost, or made twice.
    """
    found = next(_serialized(TypeAdapter(cls).core_schema, cls.__name__, {}), None)
    if found is not None:
        refuse(
            codes.TYPE_UNSUPPORTED,
            f"{found} has a serializer, which is not used when an item is stored.",
            "Say how it is stored: Annotated[..., Stored(Codec(...))].",
        )


def _serialized(
    given: Any, where: str, known: dict[str, Any], model: type[BaseModel] | None = None
) -> Iterator[str]:
    """What Pydantic serializes by a function, whether a marker, a method or a class says so."""
    if isinstance(given, list | tuple):
        for one in given:
            yield from _serialized(one, where, known, model)
    if not isinstance(given, dict):
        return
    kind = given.get("type")
    # Pydantic's own functions write a sequence as a list, and a mapping as a dict.
    own = getattr(given.get("serialization", {}).get("function"), "__module__", "")
    if isinstance(kind, str) and "serialization" in given and not own.startswith("pydantic."):
        yield where
    if kind == "definitions":
        known |= {one["ref"]: one for one in given["definitions"]}
    if kind == "definition-ref":  # Once: a model may hold itself.
        yield from _serialized(known.pop(given["schema_ref"], None), where, known)
    elif kind == "model-fields" and model is not None:
        for name, field in given["fields"].items():
            info = model.model_fields[name]
            marks = (*info.metadata, *unwrap(info.annotation)[1])
            if not any(isinstance(one, Stored | Transient) for one in marks):
                yield from _serialized(field, f"{where}.{name}", known)
    else:
        for name, inner in given.items():
            if name not in _NO_SCHEMAS:
                yield from _serialized(inner, where, known, given.get("cls", model))


def _own(cls: type[Entity], declared: Declared) -> Declared:
    """An entity's own copy of an inherited declaration."""
    if declared.name in vars(cls):
        return declared
    own: Declared = copy(declared)
    type.__setattr__(cls, declared.name, own)
    return own


def _intents(stated: Mapping[str, str], name: str) -> tuple[schema.Intent, ...]:
    for what, reason in stated.items():
        if what not in schema.INTENTS or not reason.strip():
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{name}: on_purpose has {what!r}: {reason!r}.",
                f"Give a reason for one of {', '.join(schema.INTENTS)}.",
            )
    return tuple(schema.Intent(what, reason) for what, reason in stated.items())
