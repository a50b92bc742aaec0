"""What improves and what worsens between two bills, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from keyfold_workbench.advise.choice import KeyChoice
from keyfold_workbench.cost.amounts import money, number
from keyfold_workbench.cost.bill import Bill, PatternLine


@dataclass
class _Changes:
    gains: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)

    def compare(self, what: str, unit: str, old: float, new: float) -> None:
        """A number of which less is better; equal when rounded is equal."""
        if words := _instead(unit, old, new):
            (self.gains if new < old else self.losses).append(f"{what} takes {words}")


def _instead(unit: str, old: float, new: float) -> str:
    if number(old) == number(new):
        return ""
    shown = unit.removesuffix("s") if new == 1 else unit
    return f"{number(new)} {shown} instead of {number(old) if old else 'none'}"


def differences(
    before: Bill, after: Bill, choices: Mapping[str, KeyChoice]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Gains and losses."""
    changes = _Changes()
    now = {line.pattern.name: line for line in after.patterns}
    for line in before.patterns:
        _reads(changes, line, now[line.pattern.name])
    _writes(changes, before, after)
    for name, choice in choices.items():
        key = before.schema.by_entity[name].key
        if choice.located_by is not None and key is not None:
            changes.losses.append(
                f"a caller that updates or deletes {name} by {', '.join(key.fields)} alone reads "
                "it first, to know its whole key"
            )
    return tuple(changes.gains), tuple(changes.losses)


def _reads(changes: _Changes, old: PatternLine, new: PatternLine) -> None:
    name = old.pattern.name
    if old.by_index and not new.by_index:
        index = old.read.path.index
        changes.gains.append(f"{name} reads the table, not {index}: it can be consistent")
    if not old.by_index and new.by_index:
        was = "consistent" if old.read.consistent else "from the table"
        changes.losses.append(
            f"{name} reads {new.read.path.index}; before, it was {was}; now it can be stale"
        )
    changes.compare(name, "read units", old.read.total, new.read.total)
    changes.compare(name, "requests", old.read.requests, new.read.requests)


def _writes(changes: _Changes, before: Bill, after: Bill) -> None:
    now = {line.write.name: line for line in after.writes}
    for old in before.writes:
        new = now[old.write.name]
        written = _instead("write units", old.write.units, new.write.units)
        looked = _instead("read units", old.write.read_units, new.write.read_units)
        words = " and ".join(each for each in (written, looked) if each)
        if not words:
            continue
        change = new.dollars - old.dollars
        more = f"{money(abs(change))} a month {'less' if change < 0 else 'more'}"
        sentence = f"{old.write.name} takes {words}, {more}"
        (changes.gains if change < 0 else changes.losses).append(sentence)


def lost_reads(before: Bill, after: Bill) -> Iterator[tuple[str, float]]:
    """Patterns whose answer is consistent today and no longer would be."""
    now = {line.pattern.name: line for line in after.patterns}
    for line in before.patterns:
        if line.read.consistent and not now[line.pattern.name].read.consistent:
            yield line.pattern.name, line.rate.average
