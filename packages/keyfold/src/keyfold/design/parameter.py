"""The parameters of an access pattern during recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, cast

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold_engine.expressions.ast import ValueRef


class Param:
    """A pattern's parameter during recording: passed on or shifted, but never inspected."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _refuse(self, *_: object) -> Any:
        refuse(
            codes.PATTERN_BRANCHES,
            f"the access pattern reads the value of its parameter {self.name!r}.",
            "A pattern runs once, at import. Branch before you call it.",
        )

    __bool__ = __iter__ = __len__ = __int__ = __index__ = __float__ = __str__ = _refuse
    __radd__ = __rsub__ = __mul__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __getitem__ = __contains__ = __format__ = __call__ = _refuse

    def value_in(self, arguments: Mapping[str, Any]) -> Any:
        """The parameter's value in a call."""
        return arguments[self.name]

    def __add__(self, by: object) -> Any:
        return self._shift("plus", by)

    def __sub__(self, by: object) -> Any:
        return self._shift("minus", by)

    def _shift(self, word: str, by: object) -> Any:
        if isinstance(by, int | float | Decimal | timedelta) and not isinstance(by, bool):
            return MovedParam(self, word, by)
        return self._refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # Python itself probes for it.
        return self._refuse()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Param):
            return self.name == other.name
        return cast("bool", self._refuse())

    def __hash__(self) -> int:
        return hash(("Param", self.name))

    def __repr__(self) -> str:
        return f"Param({self.name!r})"


@dataclass(frozen=True, slots=True)
class Argument(ValueRef):
    """A parameter in a recorded condition, whose value comes with the call."""

    param: Param


class MovedParam(Param):
    """A parameter plus an amount: `day + timedelta(days=1)`."""

    __slots__ = ("by", "origin", "word")

    def __init__(self, origin: Param, word: str, by: Any) -> None:
        super().__init__(f"{origin.name}_{word}_{_amount_name(by)}")
        self.origin, self.word, self.by = origin, word, by

    def value_in(self, arguments: Mapping[str, Any]) -> Any:
        value = self.origin.value_in(arguments)
        if value is None:
            return None
        return value + self.by if self.word == "plus" else value - self.by


def _amount_name(by: Any) -> str:
    """An amount as a part of a name: `1_day`, `90_seconds`, `2_5`."""
    if isinstance(by, timedelta):
        seconds = by.total_seconds()
        whole, unit = (by.days, "day") if seconds % 86400 == 0 else (seconds, "second")
        return _amount_name(int(whole) if whole == int(whole) else whole) + (
            f"_{unit}" if whole == 1 else f"_{unit}s"
        )
    return str(by).replace(".", "_").replace("-", "less_")
