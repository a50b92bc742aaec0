"""Uniqueness that holds: one marker item for each value, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from keyfold.design import codes, schema
from keyfold.design.declared import Declared
from keyfold.design.entity import Entity
from keyfold.design.follows import Follows
from keyfold.design.formats import plain
from keyfold.design.template import DELIMITER
from keyfold.errors import DeclarationError, UniqueTaken
from keyfold.maintain.fact import HOLDER, ClaimFact
from keyfold.maintain.reconcile import raw, unchanged
from keyfold.maintain.structure import KeptStructure
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.writes import commit

PREFIX = f"UNIQUE{DELIMITER}"


class Unique(KeptStructure, Declared):
    """No two items share these fields: `one_email = Unique("email", normalise=str.casefold)`.

    An item without a value in one of them does not take part.
    """

    kind = "unique"
    sync: Literal["transaction"] = "transaction"

    def __init__(self, *names: str, normalise: Callable[[str], str] | None = None) -> None:
        super().__init__()
        self.names = names
        self.normalise = normalise
        self.source: type[Entity]
        self.label = ""

    def attach(self, entity: type[Entity]) -> None:
        if not self.names:
            raise DeclarationError(
                "K1",
                "Unique names no field.",
                place=f"{self.place} {entity.__name__}.{self.name}",
                suggestion='Name what no two items share, as Unique("email").',
            )
        for name in self.names:
            if name not in entity.__spec__.fields:
                raise DeclarationError(
                    "K1",
                    f"Unique names the field {name!r}, which {entity.__name__} does not declare.",
                    place=f"{self.place} {entity.__name__}.{self.name}",
                    suggestion=f"Declared are: {', '.join(entity.__spec__.fields)}.",
                )
        if entity.__table__.schema.partition_type != "S":
            raise DeclarationError(
                codes.MARKER_MISUSED,
                f"{entity.__name__} is in a table whose partition key is not a string, "
                "so that it cannot hold markers of unique values.",
                place=f"{self.place} {entity.__name__}.{self.name}",
                suggestion="Use a table with a text partition key.",
            )
        self.source = entity
        self.label = f"unique {entity.__name__}.{'+'.join(self.names)}"
        entity.__spec__.uniques.append(
            schema.UniqueSchema(self.names, _called(self.normalise), "marker", place=self.place)
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
            normalise=_called(self.normalise),
            expires=spec.ttl is not None,
            place=self.place,
        )

    def value(self, entity: Entity | None) -> str | None:
        """The value that is unique, as text; None where the item does not take part."""
        if entity is None:
            return None
        parts = []
        for name in self.names:
            found = getattr(entity, name)
            if found is None:
                return None
            text = plain(found)
            parts.append(self.normalise(text) if self.normalise else text)
        return DELIMITER.join(p.replace("%", "%25").replace(DELIMITER, "%23") for p in parts)

    def key(self, value: str) -> dict[str, Any]:
        """The marker's key."""
        table = self.source.__table__.schema
        text = f"{marker_prefix(self.source.__name__, self.names)}{value}"
        key: dict[str, Any] = {table.partition: {"S": text}}
        if table.sort is not None:
            key[table.sort] = {"S": "UNIQUE"} if table.sort_type == "S" else {"N": "0"}
        return key

    def facts(self, item: Entity) -> Iterator[ClaimFact]:
        value = self.value(item)
        if value is not None:
            table = self.source.__table__
            yield ClaimFact(table, self.key(value), item.ref(), self._taken(item))

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        """Free the value that an item had, unless the item has it again."""
        value = self.value(old)
        if old is None or value is None or value == self.value(new):
            return
        item = yield from raw(context, old.ref())
        present = None if item is None else old.__spec__.decode(item)
        if self.value(present) == value:
            return
        guard = unchanged(old.ref(), item, self.fields)
        yield from commit(context, [guard, *self.writes(old, None)])

    def _taken(self, new: Entity) -> Callable[[Mapping[str, Any] | None], Exception]:
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
    """How the keys of a unique's markers begin."""
    return f"{PREFIX}{entity}{DELIMITER}{'+'.join(names)}{DELIMITER}"


def _called(function: Callable[[str], str] | None) -> str:
    return getattr(function, "__name__", "") if function is not None else ""
