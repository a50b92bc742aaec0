"""`Key`: an entity's address in its table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, overload

from typing_extensions import TypeVar

from keyfold.design import schema
from keyfold.design.address import OpenKey
from keyfold.design.declaration import Declared, declaring, refuse
from keyfold.design.derivation import Derivation, derivation
from keyfold.design.key_attribute import KeyAttribute, check_type, is_whole, normalising
from keyfold.design.renderer import KeyRenderer, compile_key
from keyfold.design.signatures import Addresses, Queries, Untyped
from keyfold.design.template import Template, parse_template
from keyfold_engine.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES

if TYPE_CHECKING:
    from keyfold.design.entity import Entity
    from keyfold.design.fields import FieldSpec

E = TypeVar("E", bound="Entity")
P = ParamSpec("P")
K_co = TypeVar("K_co", covariant=True, default=Untyped)
R_co = TypeVar("R_co", covariant=True)
Silences = tuple[tuple[str, str], ...]


class Key(Declared, Generic[K_co]):
    """The primary key: `Key("ROOM#{room_id}", "MEMBER#{user_id}")`."""

    index: str | None = None

    @declaring(
        "a key",
        "Give one template for the partition and one for the sort key, as "
        'Key("ROOM#{room_id}", "MEMBER#{user_id}#{day}").',
    )
    def __init__(
        self,
        partition: str,
        sort: str | None = None,
        *,
        escape: bool = False,
        silence: Silences = (),
    ) -> None:
        super().__init__()
        self.templates = schema.KeyTemplates(
            self._template(partition, escape=escape),
            None if sort is None else self._template(sort, escape=escape),
        )
        self.silences = tuple(schema.Silence(code, reason) for code, reason in silence)
        self.attributes: tuple[KeyAttribute, ...] = ()
        self.partition_attributes: tuple[KeyAttribute, ...] = ()
        self.sort_attributes: tuple[KeyAttribute, ...] = ()
        self.derived: dict[str, Derivation] = {}
        """Its parts that are no fields, by the names under which queries give them."""
        self.held: dict[str, FieldSpec] = {}
        """Its parts, by name."""
        self.owner = ""
        """Whose key it is, for messages."""

    def _template(self, text: object, *, escape: bool) -> Template:
        if not isinstance(text, str) or not text:
            refuse(
                "K1",
                f"{text!r} cannot be a key template.",
                'Give text with the fields in braces, as "ROOM#{room_id}".',
            )
        return parse_template(text, escape=escape)

    # Read from a class, a key is a KeyOf. A class with generated types shows type checkers the
    # declaration itself: mypy accepts a base's type only if reading does not change it.
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
        self._build(entity, entity.__table__.schema)
        spec = entity.__spec__
        if "key" in spec.__dict__:
            refuse(
                "K2",
                f"{entity.__name__} has two primary keys, {spec.key.name} and {self.name}.",
                'An item has one. For another order of reading use On("GSI1", ...).',
            )
        known = {*self.templates.fields} - self.derived.keys()
        free = [name for name, one in self.derived.items() if not one.sources <= known]
        if free:
            refuse(
                "K2",
                f"the primary key uses {', '.join(free)}, which depends on fields that are not "
                "in it.",
                "A primary key cannot change: derive its parts from its own "
                'fields, or use On("GSI1", ...).',
            )
        optional = [f for f in self.address if spec.fields[f].optional]
        if optional:
            refuse(
                "K2",
                f"the primary key uses {', '.join(optional)}, which may be missing.",
                "Every item needs its whole key: make the field required.",
            )
        spec.key = self

    def _build(self, entity: type[Entity], owner: schema.TableSchema | schema.Index) -> None:
        self.owner = entity.__name__ if self.index is None else f"{entity.__name__}.{self.name}"
        declared = self.held = self._fields(entity)
        if (owner.sort is None) != (self.templates.sort is None):
            wanted = "only a partition key" if owner.sort is None else "a partition and a sort key"
            refuse(
                "K2",
                f"{self.index or entity.__table__.name} has {wanted}.",
                "Give one template for each of its key attributes.",
            )
        self.partition_attributes = self._attributes(
            owner.partition_types, self.templates.partition, PARTITION_KEY_BYTES
        )
        self.sort_attributes = self._attributes(
            owner.sort_types, self.templates.sort, SORT_KEY_BYTES
        )
        self.attributes = self.partition_attributes + self.sort_attributes
        names = [one.attribute for one in self.attributes] if self.index is not None else []
        home = entity.__table__.schema.key_attributes
        self.position = tuple(dict.fromkeys([*names, *home]))
        """The attributes of a position among its items: those of the index and of the table."""
        for attribute in self.attributes:
            check_type(declared, attribute)

    def _attributes(
        self,
        types: Mapping[str, schema.KeyType],
        template: Template | None,
        limit: int,
    ) -> tuple[KeyAttribute, ...]:
        """The attributes of one side of the key, each with its template."""
        templates = template.attributes if template is not None else ()
        if len(templates) != len(types):
            refuse(
                "K3",
                f"{self.index} is keyed by {' and '.join(types)}, but {self.name} gives "
                f"{' and '.join(one.text for one in templates)}.",
                "Give a field for each of its attributes, in their order: "
                f"({', '.join(map(repr, types))})."
                if len(types) > 1
                else 'Give one template, as "ROOM#{room_id}".',
            )
        return tuple(
            KeyAttribute(name, kind, normalising(self.held, one), limit, is_whole(self.held, one))
            for (name, kind), one in zip(types.items(), templates, strict=True)
        )

    def _fields(self, entity: type[Entity]) -> dict[str, FieldSpec]:
        """What the key is made of: fields of the entity, and values derived from them."""
        known: dict[str, FieldSpec] = {}
        self.derived = {}
        for slot in self.templates.slots:
            if slot.field in entity.__spec__.fields and not slot.path:
                known[slot.field] = entity.__spec__.fields[slot.field]
                continue
            found = derivation(entity, slot)
            if found is None:
                refuse(
                    "K1",
                    f"the key names the field {slot.path or slot.field!r}, which "
                    f"{entity.__name__} does not declare.",
                    f"Declared: {', '.join(entity.__spec__.fields)}.",
                )
            self.derived[found.name] = found
            known[found.name] = found.field
        return known

    @cached_property
    def address(self) -> tuple[str, ...]:
        """The fields that an address takes; derived values are not passed."""
        return tuple(dict.fromkeys(f for f in self.templates.fields if f not in self.derived))

    def sources(self, names: Iterable[str]) -> set[str]:
        """The fields that these parts of the key are made of."""
        found: set[str] = set()
        for name in names:
            found |= self.derived[name].sources if name in self.derived else {name}
        return found

    def with_derived(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values plus those derived from them."""
        for one in self.derived.values():
            values = one.extend(values)
        return values

    def parts_of(self, entity: Entity) -> dict[str, Any]:
        """The arguments of a query for this key of an item."""
        values = self.with_derived(entity.__dict__)
        return {name: values[name] for name in self.templates.fields}

    @cached_property
    def render(self) -> KeyRenderer:
        """`render(values)` gives the wire key for these field values."""
        return self._render if self.derived else compile_key(self.attributes, self._render)

    def _render(self, values: Mapping[str, object]) -> dict[str, Any]:
        values = self.with_derived(values)
        return {a.attribute: a.render(values, owner=self.owner) for a in self.attributes}
