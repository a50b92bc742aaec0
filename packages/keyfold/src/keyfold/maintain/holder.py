"""The item that holds a unique value: its marker names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity
from keyfold.design.parameter import Param
from keyfold.errors import MissingKeyField
from keyfold.maintain.fact import HOLDER
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.reads import SteppedRead
from keyfold.runtime.recognition import is_expired

if TYPE_CHECKING:
    from keyfold.maintain.unique import Unique

E = TypeVar("E", bound=Entity)
_LOOKS = 3


@dataclass(frozen=True)
class Holder(SteppedRead["E | None"], Generic[E]):
    """The item with a unique value: its marker and then the item, both read consistently."""

    entity: type[E]
    unique: Unique
    values: Mapping[str, Any]

    def steps(self, context: Context) -> Flow[E | None]:
        table = context.physical(self.entity.__table__.schema)
        wanted = self.unique.key(self.values)
        if wanted is None:
            return None
        for _ in range(_LOOKS):
            marker = yield from self._item(table, wanted)
            key = (marker or {}).get(HOLDER, {}).get("M")
            item = None if key is None else (yield from self._item(table, key))
            if key is None or item is None or is_expired(context, self.entity.__spec__, item):
                return None
            found: E = self.entity.__spec__.decode(item)
            if self.unique.key_of(found) == wanted:
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
            refuse(
                codes.PATTERN_BRANCHES,
                f"{place} takes two requests, so it cannot be an access pattern.",
                "Read it with db.read, or declare an index for the pattern.",
            )
        return Holder(self.entity, self.declared, values)
