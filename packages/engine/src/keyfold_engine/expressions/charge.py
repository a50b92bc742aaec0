"""The bytes DynamoDB charges an UpdateItem for its statement.

They depend on the request alone: a value counts at each use; what paths read and functions produce
is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    Function,
    NameRef,
    Operand,
    Path,
    Placeholder,
    SetAction,
    Value,
    ValueRef,
    walk,
)
from keyfold_engine.expressions.evaluate import Values
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.size import attribute_size, text_size

_STATEMENT = 3
_WRITING = 19
_TAKING_AWAY = 1
_LATER_STEP = 4
_READING = 1
_READ_STEP = 14
_WORK = {"+": 34, "-": 37, "if_not_exists": 39, "list_append": 37}


class Charge:
    """The bytes of a statement: a fixed part for its text, and each use of a value."""

    __slots__ = ("_text", "_uses")

    def __init__(self, actions: Iterable[Action]) -> None:
        self._text = _STATEMENT
        self._uses: list[str] = []
        for part in (part for action in actions for part in _parts(action)):
            if isinstance(part, int):
                self._text += part
            else:
                self._uses.append(part)

    def exceeds(self, limit: int, values: Values) -> bool:
        """Whether the statement with these values exceeds the limit."""
        # Nearly every request is small, and its values were already measured together.
        if isinstance(values, NormalItem) and self._text + len(self._uses) * values.size <= limit:
            return False
        return self._text + sum(attribute_size(values[use]) for use in self._uses) > limit


def _parts(action: Action) -> Iterator[int | str]:
    """A number of bytes, and the placeholders of values to add."""
    first, *later = action.path.parts
    yield _step(first) + sum(_LATER_STEP + _step(step) for step in later)
    if isinstance(action, (SetAction, AddAction)):
        yield _WRITING
        yield from _of(action.value)
    else:
        yield _TAKING_AWAY


def _of(value: Operand | Arithmetic) -> Iterator[int | str]:
    for each in walk(value):
        match each:
            case Path(steps):
                yield _READING + sum(_READ_STEP + _step(step) for step in steps)
            case Value(content):
                yield attribute_size(content)
            case Placeholder(text) | ValueRef(text):
                yield text
            case Arithmetic(work) | Function(work):
                yield _WORK[work]


def _step(step: str | int | NameRef) -> int:
    return text_size(str(step))
