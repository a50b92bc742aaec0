"""`On`: an entity's key in an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from typing_extensions import TypeVar

from keyfold.design import schema
from keyfold.design.condition import (
    condition_text,
    evaluator,
    fields_of,
    is_presence,
    present,
    there,
)
from keyfold.design.declaration import declaring, refuse
from keyfold.design.exclusion import excludes
from keyfold.design.keys import Key, Silences
from keyfold.design.recorder import declare
from keyfold.design.signatures import Untyped
from keyfold.design.template import Template, apart, parse_template

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

K_co = TypeVar("K_co", covariant=True, default=Untyped)


class On(Key[K_co]):
    """An entity's key in an index: `On("GSI1", "USER#{user_id}", "POST#{post_id}")`.

    For an index with a multi-attribute key pass a field for each attribute: `On("ByPlace",
    ("country", "city"), ("opened", "rent"))`.

    `when` makes it sparse: the name of a field that must have a value, or a condition.
    """

    @declaring(
        "a key in an index",
        'Give the index and its templates, as On("GSI1", "USER#{user_id}", "POST#{post_id}").',
    )
    def __init__(
        self,
        index: str,
        partition: str | tuple[str, ...],
        sort: str | tuple[str, ...] | None = None,
        *,
        when: str | tuple[str, ...] | Callable[[Any], object] = (),
        escape: bool = False,
        silence: Silences = (),
    ) -> None:
        # Both are read by _template, which also accepts fields.
        super().__init__(partition, sort, escape=escape, silence=silence)  # type: ignore[arg-type]
        self.index = index
        self._when = when
        self.when: schema.Condition | None = None
        self._holds: Callable[[Mapping[str, Any]], bool] | None = None

    def _template(self, given: object, *, escape: bool) -> Template:
        if not isinstance(given, tuple | list):
            return super()._template(given, escape=escape)
        for field in given:
            if not isinstance(field, str) or not field:
                refuse(
                    "K1",
                    f"{field!r} cannot be one of several key attributes.",
                    'Give the names of fields, as ("country", "city").',
                )
        if not given:
            refuse(
                "K1",
                "a key needs at least one field.",
                'Give the names of fields, as ("country", "city").',
            )
        texts = [field if "{" in field else f"{{{field}}}" for field in given]
        return apart([parse_template(text, escape=escape) for text in texts])

    def attach(self, entity: type[Entity]) -> None:
        table = entity.__table__.schema
        found = table.index(self.index or "")
        if found is None:
            known = ", ".join(index.name for index in table.indexes) or "none"
            refuse(
                "K3",
                f"the table {table.name} has no index {self.index!r}.",
                f"Its indexes are: {known}.",
            )
        self._build(entity, found)
        self.when = self._read_when(entity)
        if self.when is not None:
            self._holds = evaluator(self.when, entity.__spec__)
        fields = self.held
        covered = present(self.when) if self.when is not None else frozenset[str]()
        optional = [
            f
            for f in dict.fromkeys(self.templates.fields)
            if fields[f].optional and not self.sources([f]) <= covered
        ]
        if optional:
            refuse(
                "K3",
                f"the index key uses {', '.join(optional)}, which may be missing: "
                "such items would silently be missing from the index.",
                f"Make it required, or say so with when={min(self.sources(optional[:1]))!r}.",
            )
        self._refuse_needless_condition(entity)
        self._refuse_overlap(entity)
        entity.__spec__.placements[self.name] = self

    def _refuse_needless_condition(self, entity: type[Entity]) -> None:
        """Refuse a sparse placement whose items would be indexed anyway: an item is in an
        index as soon as it has all its key attributes.
        """
        own = {field.attribute for field in entity.__spec__.fields.values()}
        names = [attribute.attribute for attribute in self.attributes]
        if self.when is None or not own.issuperset(names) or is_presence(self.when):
            return
        refuse(
            "K3",
            f"an item is in {self.index} as soon as it has {' and '.join(names)}: "
            f"{condition_text(self.when)!r} cannot keep it out.",
            "Give the index an attribute of its own, as "
            f'Index({self.index!r}, "{self.index}PK", ...), which only these items get.',
        )

    def _refuse_overlap(self, entity: type[Entity]) -> None:
        """Refuse two placements that can both apply: an item has one key in an index."""
        for other in entity.__spec__.placements.values():
            if other.index != self.index:
                continue
            both = [one for one in (other.when, self.when) if one is not None]
            if len(both) == 2 and excludes(both[0], both[1], entity.__spec__):
                continue
            shown = " and ".join(f"{condition_text(one)!r}" for one in both) or "no condition"
            refuse(
                "K3",
                f"{other.name} and {self.name} are both on {self.index}, but an item has one key "
                f"there, and {shown} may both hold."
                if len(both) == 2
                else f"{other.name} and {self.name} are both on {self.index}, but an item has one "
                "key there.",
                "Give each a when= that excludes the other, as "
                "when=lambda item: item.open and when=lambda item: not_(item.open).",
            )

    def _read_when(self, entity: type[Entity]) -> schema.Condition | None:
        names = frozenset(entity.__spec__.fields)
        if callable(self._when):
            return declare(self._when, entity)
        wanted = (self._when,) if isinstance(self._when, str) else self._when
        for field in wanted:
            if field not in names:
                refuse(
                    "K1",
                    f"when= names the field {field!r}, which {entity.__name__} does not declare.",
                    f"Declared: {', '.join(sorted(names))}.",
                )
        return there(*wanted)

    def applies(self, values: Mapping[str, Any]) -> bool:
        return self._holds is None or self._holds(values)

    @property
    def fields(self) -> frozenset[str]:
        """All fields that decide an item's key in this index."""
        return frozenset(self.sources(self.templates.fields)) | fields_of(self.when)

    def describe(self) -> schema.Placement:
        return schema.Placement(
            name=self.name,
            index=self.index or "",
            key=self.templates,
            when=self.when,
            place=self.place,
            silences=self.silences,
        )
