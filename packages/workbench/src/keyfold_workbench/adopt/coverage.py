"""How much of a live table a design describes, and what a first write would change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from keyfold.design.entity_spec import EntitySpec
from keyfold.design.table import Table
from keyfold.errors import KeyfoldError, Undecodable
from keyfold.maintain import Unique
from keyfold.maintain.fact import HOLDER
from keyfold.maintain.verify_scan import Recognition
from keyfold_workbench.adopt.item_groups import is_own, pieces
from keyfold_workbench.adopt.key_parts import SIGNS

Wire = dict[str, Any]
MOST_EXAMPLES = 3
_WORD = re.compile(r"[A-Za-z][A-Za-z_]*")


@dataclass
class Case:
    """One kind of observation, how often it occurred, and a few example items."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, key: str) -> None:
        self.count += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(key)


@dataclass
class Coverage:
    """The result for one table."""

    table: str
    items: int = 0
    own: int = 0
    """keyfold's own markers."""
    markers: int = 0
    """Markers of unique values that the design declares."""
    unheld: int = 0
    """Those of them that name no holder, as another program writes them."""
    read: Counter[str] = field(default_factory=Counter)
    """Items of each entity that can be decoded."""
    unknown: dict[str, Case] = field(default_factory=dict)
    """Items that no entity describes, by the shape of their keys."""
    ambiguous: dict[str, Case] = field(default_factory=dict)
    """Items that match the keys of several entities."""
    unreadable: dict[str, Case] = field(default_factory=dict)
    changes: dict[str, Case] = field(default_factory=dict)
    """What putting the same item would change."""
    kept: Counter[str] = field(default_factory=Counter)
    """Attributes that the design does not declare; every write keeps them."""

    @property
    def described(self) -> int:
        return sum(self.read.values()) + self.own + self.markers

    @property
    def share(self) -> float:
        """The share of items that an entity describes and decodes; 1 for an empty table."""
        return self.described / self.items if self.items else 1.0


def cover(design: Any, table: Table, items: Iterable[Any], *, name: str) -> Coverage:
    """Examine every item: its entity, whether it decodes, what a write would change."""
    design.complete()
    recognition, found = Recognition(table), Coverage(name)
    claims = [
        one
        for one in design.maintainers
        if isinstance(one, Unique) and one.declared and one.source.__table__ is table
    ]
    for item in items:
        found.items += 1
        if is_own(table.schema, item):
            found.own += 1
            continue
        key = _shown_key(table, item)
        spec = recognition.of(item)
        if spec is None and any(one.marks(item) for one in claims):
            found.markers += 1
            found.unheld += HOLDER not in item
            continue
        if spec is None:
            _case(found.unknown, _shape(table, item)).add(key)
            continue
        others = _other_matches(table, spec, item)
        if others:
            _case(found.ambiguous, " or ".join([spec.name, *others])).add(key)
        _look(spec, item, key, found)
    return found


def _case(cases: dict[str, Case], name: str) -> Case:
    return cases.setdefault(name, Case())


def _other_matches(table: Table, spec: EntitySpec, item: Wire) -> list[str]:
    """Other entities that the item could belong to, if no type attribute decides."""
    named = table.schema.type_attribute
    if named is not None and named in item:
        return []
    every = (entity.__spec__ for entity in table.entities)
    return [other.name for other in every if other is not spec and other.recognises(item)]


def _look(spec: EntitySpec, item: Wire, key: str, found: Coverage) -> None:
    try:
        entity = spec.decode(item)
        written = spec.encode(entity)
    except Undecodable as problem:
        for name, told in problem.fields.items():
            label = f"{spec.name}.{name}" if name else spec.name
            _case(found.unreadable, f"{label}: {_without_values(told)}").add(key)
        return
    except KeyfoldError as problem:
        _case(found.unreadable, f"{spec.name}: {_without_values(str(problem))}").add(key)
        return
    found.read[spec.name] += 1
    for name in written.keys() | (item.keys() & spec.attributes):
        if name not in item:
            _case(found.changes, f"{spec.name}.{name} would be added").add(key)
        elif name not in written:
            _case(found.changes, f"{spec.name}.{name} would be removed").add(key)
        elif not _are_equal(written[name], item[name]):
            was, will = _excerpt(item[name]), _excerpt(written[name])
            case = _case(found.changes, f"{spec.name}.{name} would be written differently")
            case.add(f"{key} ({was} becomes {will})")
    found.kept.update(f"{spec.name}.{name}" for name in spec.undeclared_attributes(item))


def _are_equal(written: Wire, stored: Wire) -> bool:
    """Equality that ignores the order of sets."""
    return bool(_plain(written) == _plain(stored))


def _plain(value: Wire) -> Any:
    kind, content = next(iter(value.items()))
    if kind in ("SS", "NS", "BS"):
        return kind, frozenset(content)
    if kind == "M":
        return kind, {name: _plain(inner) for name, inner in content.items()}
    if kind == "L":
        return kind, [_plain(inner) for inner in content]
    return kind, content


def _without_values(told: str) -> str:
    """An error message without its value, so that similar ones are counted together."""
    return re.sub(r"\{'\w+': .*\}", "another type", told)


def _excerpt(value: Wire) -> str:
    return f"{next(iter(value.values()))!s:.40}"


def _shown_key(table: Table, item: Wire) -> str:
    return " / ".join(_excerpt(item[name]) for name in table.schema.key_attributes if name in item)


def _shape(table: Table, item: Wire) -> str:
    """`USER#… / PROFILE`: keeps words and drops values."""
    shapes = []
    for name in table.schema.key_attributes:
        kind, content = next(iter(item[name].items()))
        if kind != "S":
            shapes.append(f"a {'number' if kind == 'N' else 'binary'}")
            continue
        parts = pieces(content)
        last = len(parts) - 1
        shapes.append(
            "".join(
                part
                if not part.strip(SIGNS) or (_WORD.fullmatch(part) and (place < last or last == 0))
                else "…"
                for place, part in enumerate(parts)
            )
        )
    return " / ".join(shapes)


def summary(found: Coverage) -> str:
    """The report as text."""
    share = f"{100 * found.share:.2f}".rstrip("0").rstrip(".")
    missed = found.items - found.described
    lines = [f"{found.table}: {share} % of {found.items:,} items are described and can be read."]
    lines += [f"  {count:,} {name}" for name, count in found.read.most_common()]
    lines += [f"  {found.own:,} of keyfold's own"] if found.own else []
    if found.markers:
        lines.append(f"  {found.markers:,} markers of unique values")
    if found.unheld:
        lines.append(
            f"{found.unheld:,} of these markers name no holder: keyfold verify compares them with "
            "the items, and keyfold repair gives each its holder."
        )
    if missed:
        lines.append(f"{missed:,} {'is' if missed == 1 else 'are'} not:")
        lines += _cases(found.unknown, "no entity has keys like {name}")
        lines += _cases(found.unreadable, "{name}")
    if found.ambiguous:
        lines += ["Several entities fit:", *_cases(found.ambiguous, "{name}")]
    if found.changes:
        lines += ["A put would change:", *_cases(found.changes, "{name}")]
    elif found.read:
        lines.append("A put would change nothing.")
    if found.kept:
        lines.append("Attributes that the design does not declare are kept:")
        lines += [f"  {count:,} {name}" for name, count in found.kept.most_common(20)]
    return "\n".join(lines)


def as_data(found: Coverage) -> dict[str, Any]:
    """The report as data."""
    counted = {"read": dict(found.read), "kept": dict(found.kept)}
    cases = {
        name: {told: asdict(case) for told, case in getattr(found, name).items()}
        for name in ("unknown", "ambiguous", "unreadable", "changes")
    }
    figures = {"table": found.table, "items": found.items, "own": found.own, "share": found.share}
    figures |= {"markers": found.markers, "unheld": found.unheld}
    return {**figures, **counted, **cases}


def _cases(cases: dict[str, Case], told: str) -> list[str]:
    ordered = sorted(cases.items(), key=lambda pair: -pair[1].count)
    return [
        f"  {case.count:,} {told.format(name=name)}, as {'; '.join(case.examples)}"
        for name, case in ordered
    ]
