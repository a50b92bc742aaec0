"""What a finding says: templates that are filled with the elements it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from keyfold.design.schema import Placement
from keyfold.review.check.report import Severity

_JOINED = {"": ", ", "and": " and ", "or": " or "}


@dataclass(frozen=True)
class Wording:
    """One case of a rule: what it says, or asks where the design is silent."""

    at: str
    """`operation entity`: the element, then its parents; `placement|entity` is the first there."""
    says: str = ""
    asks: str = ""
    fix: str = ""
    subject: str = ""
    """If not the element's name."""
    cause: str = ""
    """What is said of one cause is one finding."""
    topic: str = ""
    """Questions of one topic are one finding."""
    severity: Severity | None = None
    """If not the rule's own."""
    edit: tuple[str, str] | None = None
    """A change of the design's text that needs no decision."""


class Words(Formatter):
    """Fills templates: `{entity}` is its name, `{fields:and}` joins, `{count:,}` is a number."""

    def __init__(self, elements: Mapping[str, Any]) -> None:
        self._elements = elements

    def __call__(self, template: str) -> str:
        return self.vformat(template, (), self._elements)

    def elements(self, names: str) -> tuple[Any, ...]:
        """`placement|entity`: the first that is there; several are a list of their own."""
        each = (self.get_field(name, (), self._elements)[0] for name in names.split("|"))
        one = next(value for value in each if value is not None)
        return tuple(one) if isinstance(one, list | tuple) else (one,)

    def format_field(self, value: Any, spec: str) -> str:
        if value is None:
            raise ValueError("a template names what this design does not have")
        if isinstance(value, list | tuple | dict):
            return _JOINED[spec].join(dict.fromkeys(map(_label, value)))
        return format(value, spec) if spec else _label(value)


def counted(count: int, word: str) -> str:
    """`1 request`, `2 requests`."""
    return f"{count} {word}{'s' * (count != 1)}"


def _label(value: Any) -> str:
    return str(value.index if isinstance(value, Placement) else getattr(value, "name", value))
