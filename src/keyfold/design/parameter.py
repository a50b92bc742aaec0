"""The parameters of an access pattern, while the pattern is read."""

from __future__ import annotations

from typing import Any, cast

from keyfold.design import codes
from keyfold.errors import DeclarationError


class Param:
    """A pattern's parameter while the pattern is read; it can be passed on, not looked at."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _refuse(self, *_: object) -> Any:
        raise DeclarationError(
            codes.PATTERN_BRANCHES,
            f"the access pattern looks at the value of its parameter {self.name!r}.",
            suggestion="A pattern says which parameter goes where; decide before calling it.",
        )

    __bool__ = __iter__ = __len__ = __int__ = __index__ = __float__ = __str__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __getitem__ = __contains__ = __format__ = __call__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # Python itself asks whether it is there
        return self._refuse()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Param):
            return self.name == other.name
        return cast("bool", self._refuse())

    def __hash__(self) -> int:
        return hash(("Param", self.name))

    def __repr__(self) -> str:
        return f"Param({self.name!r})"
