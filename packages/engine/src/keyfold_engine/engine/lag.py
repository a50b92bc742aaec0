"""Index lag on request: global indexes that show an item's past, as in production.

Entries in the file are always current. Until a change reaches the indexes, this module keeps the
old item, and index reads use it in place of the file's.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias

from keyfold_engine.clock import Clock
from keyfold_engine.engine.tables import TableDefinition

if TYPE_CHECKING:
    from random import Random

LagSetting: TypeAlias = float | tuple[float, float] | Literal["held"] | None

NEVER = float("inf")


class Lag:
    """The delay of a change: seconds, a range, or until released."""

    def __init__(self, setting: LagSetting) -> None:
        self._setting = _valid_lag(setting)

    @cached_property
    def _random(self) -> Random:
        # Few engines use random delays.
        from random import Random

        return Random(0)

    def delay(self) -> float:
        match self._setting:
            case "held":
                return NEVER
            case (shortest, longest):
                return self._random.uniform(shortest, longest)
            case float() | int() as fixed:
                return fixed
            case _:
                return 0.0


class IndexLag:
    """The items that global indexes still see in their old state."""

    def __init__(self, setting: LagSetting, clock: Clock) -> None:
        self._setting = setting
        self._lag = Lag(setting)
        self._clock = clock
        self._lock = Lock()
        # By table and place: when each change reaches the indexes, and the body before it.
        self._changes: dict[int, dict[bytes, deque[tuple[float, bytes | None]]]] = {}

    @property
    def is_set(self) -> bool:
        """Whether indexes may lag."""
        return self._setting is not None

    def note(self, table: TableDefinition, place: bytes, before: bytes | None) -> None:
        """Record a change that the indexes see later."""
        if self._setting is None or not (table.global_indexes or table.further_indexes):
            return
        with self._lock:
            changes = self._changes.setdefault(table.id, {}).setdefault(place, deque())
            arrives = self._clock.now() + self._lag.delay()
            # Changes of one item arrive in order.
            changes.append((max(arrives, changes[-1][0]) if changes else arrives, before))

    def release(self) -> None:
        """Let the indexes see everything now."""
        with self._lock:
            self._changes.clear()

    def past(self, table: TableDefinition) -> dict[bytes, bytes | None]:
        """The bodies that a table's indexes still see, by place; None for items that did not
        exist.
        """
        if self._setting is None:
            return {}
        now = self._clock.now()
        with self._lock:
            places = self._changes.get(table.id, {})
            for place, changes in list(places.items()):
                while changes and changes[0][0] <= now:
                    changes.popleft()
                if not changes:
                    del places[place]
            return {place: changes[0][1] for place, changes in places.items()}


def _valid_lag(setting: LagSetting) -> LagSetting:
    match setting:
        case None | "held":
            return setting
        case float() | int() if setting >= 0:
            return setting
        case (float() | int() as shortest, float() | int() as longest) if 0 <= shortest <= longest:
            return setting
        case _:
            raise ValueError(
                f"index_lag is seconds, a (shortest, longest) pair of them, or 'held': {setting!r}"
            )
