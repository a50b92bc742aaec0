"""State machines: the allowed transitions between a field's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.markers import FieldMarker

if TYPE_CHECKING:
    from keyfold.design.fields import FieldSpec

S = TypeVar("S")


class States(FieldMarker, Generic[S]):
    """Declares a field's transitions: `States({NEW: {PAID}, PAID: {SENT}})`.

    A transition may name the operation that makes it: `{NEW: {PAID: "pay", VOID: "cancel"}}`.
    `start` are the initial values, by default the field's default. `final` are the terminal values,
    by default those without a transition.
    """

    def __init__(
        self,
        steps: Mapping[S, Iterable[S] | Mapping[S, str]],
        *,
        start: Iterable[S] | None = None,
        final: Iterable[S] | None = None,
    ) -> None:
        if lone := [after for after in steps.values() if isinstance(after, str)]:
            refuse(
                codes.MARKER_MISUSED,
                f"the states that follow a state must be a set, not {lone[0]!r}.",
                f"Write {{{lone[0]!r}}}.",
            )
        self.steps = {
            _stored(before): tuple(map(_stored, after)) for before, after in steps.items()
        }
        self.made_by = {
            (_stored(before), _stored(after)): by
            for before, several in steps.items()
            if isinstance(several, Mapping)
            for after, by in several.items()
        }
        self._start = None if start is None else tuple(map(_stored, start))
        self._final = None if final is None else tuple(map(_stored, final))
        self.start: tuple[Any, ...] = self._start or ()

    def bind(self, field: FieldSpec, default: object) -> None:
        """Check it against its field, and derive the start from the field's default."""
        known = {*self.steps, *(after for several in self.steps.values() for after in several)}
        named = known | {*(self._start or ()), *(self._final or ())}
        values = {str(one) for one in named}
        if field.values and (unknown := sorted(values - {*field.values})):
            refuse(
                codes.MARKER_MISUSED,
                f"the states name {', '.join(unknown)}, which {field.name} does not have.",
                f"Its values are: {', '.join(field.values)}.",
            )
        if self._start is None:
            if default is None:
                refuse(
                    codes.MARKER_MISUSED,
                    f"a new item has no initial state: {field.name} has no default.",
                    "Give it one, or use States(..., start={...}).",
                )
            self.start = (_stored(default),)
            if self.start[0] not in known:
                refuse(
                    codes.MARKER_MISUSED,
                    f"{field.name} starts as {self.start[0]}, which has no transitions.",
                    "Start with one of "
                    f"{', '.join(map(str, known))}, or use States(..., start={{...}}).",
                )

    @property
    def final(self) -> tuple[Any, ...]:
        """The terminal states."""
        if self._final is not None:
            return self._final
        after = dict.fromkeys(one for several in self.steps.values() for one in several)
        every = dict.fromkeys((*self.start, *self.steps, *after))
        return tuple(state for state in every if not self.steps.get(state))

    def before(self, state: object) -> tuple[Any, ...]:
        """The states with a transition to this one."""
        wanted = _stored(state)
        return tuple(one for one, several in self.steps.items() if wanted in several)

    def after(self, state: object) -> tuple[Any, ...]:
        return self.steps.get(_stored(state), ())


def _stored(state: object) -> Any:
    return state.value if isinstance(state, Enum) else state
