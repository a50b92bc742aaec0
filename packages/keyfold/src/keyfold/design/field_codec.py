"""How one field's values become what an attribute can hold, where DynamoDB has no such type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar, cast

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.schema import OtherForm
from keyfold.errors import ValueRefused

T = TypeVar("T")
S = TypeVar("S", str, int, Decimal, bool, bytes, list[Any], dict[str, Any])

CODED = "coded"
"""The kind of a field that a codec stores."""
STORABLE: dict[type, str] = {
    str: "string",
    int: "integer",
    Decimal: "decimal",
    bool: "boolean",
    bytes: "binary",
    list: "list",
    dict: "map",
}
"""What a codec may store, and the kind of a field of this type."""
READABLE: dict[type, tuple[str, ...]] = {
    str: ("string",),
    int: ("integer",),
    bytes: ("binary",),
    list: ("list",),
    set: ("string_set", "number_set", "binary_set"),
    dict: ("map",),
}
"""What a field may read besides its own type, and as which kinds."""
FORMS: dict[type, OtherForm] = {
    str: "string",
    int: "number",
    bytes: "binary",
    list: "list",
    set: "set",
    dict: "map",
}
"""The words of design files for them."""
SAME_TYPE: dict[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in STORABLE.values()},
    "decimal": ("integer",),
}
"""The kinds of other forms that a codec's kind could not be told from."""


class CodecFailed(ValueError):
    """A codec cannot read what is stored; without the value, which may be a secret."""


@dataclass(frozen=True)
class Codec(Generic[T, S]):
    """Stores the values of a field as text, a number, binary, a list or a map.

    `Codec("time", str, time.isoformat)`: the name is for documents and snapshots; what is read is
    given to Pydantic, after `decode` if there is one.

    `comparable=True` says that equal values are always stored equal. Such a field may be in keys,
    conditions, uniques and copies; ranges compare what is stored.
    """

    name: str
    stored: type[S]
    encode: Callable[[T], S]
    decode: Callable[[S], T] | None = None
    comparable: bool = False

    def __post_init__(self) -> None:
        named = isinstance(self.name, str) and self.name.isidentifier()
        callables = callable(self.encode) and (self.decode is None or callable(self.decode))
        if named and self.stored in STORABLE and callables:
            return
        types = ", ".join(one.__name__ for one in STORABLE)
        refuse(
            codes.MARKER_MISUSED,
            f"{self} is not valid.",
            f"Give a name without spaces, what is stored ({types}), and functions: "
            'Codec("time", str, time.isoformat).',
        )

    @property
    def kind(self) -> str:
        """The kind of a field that holds what is stored."""
        return STORABLE[self.stored]

    def write(self, value: T) -> S:
        """What is stored for a value."""
        try:
            found = self.encode(value)
        except Exception as problem:
            raise ValueRefused(
                f"the codec {self.name} cannot store it: {type(problem).__name__}"
            ) from problem
        if not isinstance(found, self.stored):
            raise ValueRefused(
                f"the codec {self.name} made {type(found).__name__} of it, "
                f"and not {self.stored.__name__}"
            )
        return found

    def read(self, stored: Any) -> Any:
        """The value of what is stored, for Pydantic."""
        if self.decode is None:
            return stored
        try:
            return self.decode(cast("S", stored))
        except Exception as problem:
            # Whatever a codec raises for a damaged value: the item cannot be read.
            raise CodecFailed(
                f"the codec {self.name} cannot read it: {type(problem).__name__}"
            ) from problem
