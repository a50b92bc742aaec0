"""Groups items into entities: by a discriminator attribute, or by the shape of their keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2

from keyfold.design.schema import TableSchema
from keyfold_workbench.adopt.key_parts import SIGNS
from keyfold_workbench.adopt.value_format import MOMENT, Item, text

KNOWN_DISCRIMINATORS = (
    "type", "entitytype", "_type", "__typename", "et", "_et", "__edb_e__", "entity", "_entity",
    "kind", "_kind", "itemtype", "recordtype", "objecttype", "model", "_model", "class", "__type",
)  # fmt: skip
MOST_WORDS = 12
"""More distinct words than this at one position of a key are values."""
FEWEST = 3
ALIKE = 0.6
_PIECE = re.compile(rf"{MOMENT.pattern}|[{re.escape(SIGNS)}]+|[^{re.escape(SIGNS)}]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*|[A-Za-z]+_\d|[A-Za-z]{1,3}\d?")
_HEAD = re.compile(r"[A-Za-z]+(?=[-_.]?\d)|[A-Za-z]+(?=[-_.])")
_ANY = "*"

Shape = tuple[tuple[str, ...], ...]
"""The words of partition and sort key by position, with `*` for values."""


@dataclass
class ItemGroup:
    """Items of one entity."""

    items: list[Item]
    named: str = ""
    """The entity's name according to the discriminator."""
    shape: Shape = ()


@dataclass(frozen=True)
class Grouping:
    """All groups, largest first, and the discriminator attribute."""

    groups: list[ItemGroup]
    discriminator: str | None = None
    explains: float = 0.0
    """How much of the variation between items the discriminator explains."""
    own: int = 0
    """keyfold's own items: markers of unique values and of requests."""
    husks: list[Item] = field(default_factory=list)
    """Items that have nothing but a key of another entity's form."""


def group(table: TableSchema, items: Sequence[Item]) -> Grouping:
    """The entities of a table, as far as its items can be distinguished."""
    theirs = [item for item in items if not is_own(table, item)]
    shaped = _by_shape(table, theirs)
    naming = _discriminator(table, theirs, shaped)
    own = len(items) - len(theirs)
    if naming is None:
        found = [part for each in shaped for part in _by_attributes(table, each)]
        groups, husks = _without_husks(table, found)
        return Grouping(_largest_first(groups), own=own, husks=husks)
    attribute, explains = naming
    named: dict[str, list[Item]] = {}
    for item in theirs:
        named.setdefault(text(item, attribute) or "", []).append(item)
    found = []
    for name, some in named.items():
        found += [
            ItemGroup(each.items, name, each.shape)
            for each in _by_shape(table, some, strict=bool(name))
        ]
    groups, husks = _without_husks(table, found)
    return Grouping(_largest_first(groups), attribute, explains, own, husks)


def _without_husks(
    table: TableSchema, found: list[ItemGroup]
) -> tuple[list[ItemGroup], list[Item]]:
    """The groups without items that an update or a crash left with nothing but their keys."""
    keys = _text_keys(table)
    own = {table.partition, table.sort}
    bare = [each for each in found if all(item.keys() <= own for item in each.items)]
    shapes = [each.shape for each in found if each not in bare]
    husks = [
        each
        for each in bare
        if all(
            any(_fits([pieces(text(item, key)) for key in keys], shape) for shape in shapes)
            for item in each.items
        )
    ]
    return [one for one in found if one not in husks], [i for one in husks for i in one.items]


def _fits(key: list[list[str]], shape: Shape) -> bool:
    return all(
        len(parts) == len(marks)
        and all(
            mark == part or (mark.endswith(_ANY) and part.startswith(mark[:-1]))
            for part, mark in zip(parts, marks, strict=True)
        )
        for parts, marks in zip(key, shape, strict=True)
    )


def _text_keys(table: TableSchema) -> list[str]:
    """The key attributes that are texts."""
    keys = [table.partition] if table.partition_type == "S" else []
    return [*keys, *([table.sort] if table.sort and table.sort_type == "S" else [])]


def group_by_label(items: Sequence[Item], labels: Sequence[str]) -> Grouping:
    """Entities from labels given per item."""
    named: dict[str, list[Item]] = {}
    for item, label in zip(items, labels, strict=True):
        named.setdefault(label, []).append(item)
    return Grouping(_largest_first([ItemGroup(some, name) for name, some in named.items()]))


def is_own(table: TableSchema, item: Item) -> bool:
    """Whether keyfold keeps the item for itself; it belongs to no entity."""
    from keyfold.maintain.fact import HOLDER, MARKERS
    from keyfold.runtime.idempotency import PREFIX

    key = text(item, table.partition) or ""
    claimed = "leaseUntil" in item and "keptUntil" in item
    return (key.startswith(MARKERS) and HOLDER in item) or (key.startswith(PREFIX) and claimed)


def _largest_first(groups: list[ItemGroup]) -> list[ItemGroup]:
    return sorted(groups, key=lambda each: -len(each.items))


def pieces(key: str | None) -> list[str]:
    """The words, values and delimiters of a key."""
    return _PIECE.findall(key) if key else []


# By key shape


def _by_shape(
    table: TableSchema, items: Sequence[Item], *, strict: bool = False
) -> list[ItemGroup]:
    """Items whose keys have the same words at the same positions."""
    keys = _text_keys(table)
    outside = {table.partition, table.sort}
    rows = [(item, [pieces(text(item, key)) for key in keys]) for item in items]
    shapes: list[list[list[str]]] = [[[] for _ in keys] for _ in rows]
    cohorts: list[list[int]] = [list(range(len(rows)))] if rows else []
    for which in range(len(keys)):
        place = 0
        while True:
            longer = False
            finer: list[list[int]] = []
            for cohort in cohorts:
                going = [n for n in cohort if len(rows[n][1][which]) > place]
                ended = [n for n in cohort if len(rows[n][1][which]) <= place]
                longer = longer or bool(going)
                before = _last_word(shapes[going[0]][which]) if going else ""
                column = [rows[n][1][which][place] for n in going]
                marks = _marks(column, [rows[n][0] for n in going], before, outside, strict=strict)
                split: dict[str, list[int]] = {}
                for n, mark in zip(going, marks, strict=True):
                    shapes[n][which].append(mark)
                    split.setdefault(mark, []).append(n)
                finer += [*split.values(), *([ended] if ended else [])]
            cohorts = finer
            place += 1
            if not longer:
                break
    found: dict[Shape, list[Item]] = {}
    for (item, _), shape in zip(rows, shapes, strict=True):
        found.setdefault(tuple(map(tuple, shape)), []).append(item)
    groups = [ItemGroup(some, "", shape) for shape, some in found.items()]
    return _rejoin(groups, outside, strict=strict)


def _last_word(shape: list[str]) -> str:
    return next((mark for mark in reversed(shape) if mark.strip(SIGNS)), "")


def _marks(
    column: list[str], items: list[Item], before: str, outside: set[str | None], *, strict: bool
) -> list[str]:
    """For each key's piece at one position: a distinguishing word, a delimiter, or `*`."""
    if not column:
        return []
    words = Counter(piece for piece in column if _WORD.fullmatch(piece))
    fewest = max(FEWEST, len(column) // 200)
    frequent = {word for word, count in words.items() if count >= fewest}
    if len(set(column)) == 1 and (len(column) >= FEWEST or column[0] in frequent):
        return column
    if len(frequent) > MOST_WORDS:
        frequent = set()
    frequent -= {word for word in frequent if _is_value(word, column, items, outside)}
    after_word = before not in ("", _ANY)
    if frequent and (after_word or strict) and not _differ(frequent, column, items, outside):
        frequent = set()
    heads = {} if frequent else _heads(column, items, outside, fewest)
    return [
        piece if piece in frequent or not piece.strip(SIGNS) else heads.get(piece, _ANY)
        for piece in column
    ]


def _is_value(word: str, column: list[str], items: list[Item], outside: set[str | None]) -> bool:
    """Whether the word is an attribute's value, which varies elsewhere at this position."""
    holders = [item for piece, item in zip(column, items, strict=True) if piece == word]
    for name in holders[0]:
        if name in outside or text(holders[0], name) not in (word, word.lower(), word.upper()):
            continue
        spelled = [(text(item, name) or "").lower() == word.lower() for item in holders]
        if sum(spelled) < 0.95 * len(spelled):
            continue
        others = [
            (text(item, name) or "").lower() == piece.lower()
            for piece, item in zip(column, items, strict=True)
            if piece != word
        ]
        alike = _similarity(_attributes(holders, outside), _attributes(items, outside))
        if others and sum(others) >= 0.95 * len(others) and alike >= ALIKE:
            return True
    return False


def _differ(
    words: set[str], column: list[str], items: list[Item], outside: set[str | None]
) -> bool:
    """Whether items with different words at this position have different attributes."""
    held = [
        _attributes((i for p, i in zip(column, items, strict=True) if p == word), outside)
        for word in sorted(words)
    ]
    rest = [i for p, i in zip(column, items, strict=True) if p not in words]
    held += [_attributes(rest, outside)] if rest else []
    return any(_similarity(a, b) < ALIKE for n, a in enumerate(held) for b in held[n + 1 :])


def _heads(
    column: list[str], items: list[Item], outside: set[str | None], fewest: int
) -> dict[str, str]:
    """`HR*` and `CU*` for `HR-974` and `CU-12`, if they are different kinds."""
    found = {piece: match[0] for piece in set(column) if (match := _HEAD.match(piece))}
    if len(found) < len(set(column)):
        return {}
    count = Counter(found[piece] for piece in column)
    if not 1 < len(count) <= MOST_WORDS or min(count.values()) < fewest:
        return {}
    headed = [found[piece] for piece in column]
    if not _differ(set(count), headed, items, outside):
        return {}
    return {piece: f"{head}{_ANY}" for piece, head in found.items()}


def _rejoin(groups: list[ItemGroup], outside: set[str | None], *, strict: bool) -> list[ItemGroup]:
    """Merge groups that differ only in the number of parts: a value with a delimiter in it, or
    a rare one.
    """
    kept: list[ItemGroup] = []
    for each in _largest_first(groups):
        own = _attributes(each.items, outside)
        for other in kept:
            theirs = _attributes(other.items, outside)
            same = _words(each.shape) == _words(other.shape)
            rare = strict or len(each.items) < FEWEST
            same = same or (rare and _starts(each.shape) == _starts(other.shape))
            if same and _similarity(own, theirs) >= 0.75:
                other.items += each.items
                break
        else:
            kept.append(each)
    return kept


def _words(shape: Shape) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(p for p in key if p.strip(SIGNS) and p != _ANY) for key in shape)


def _starts(shape: Shape) -> tuple[str, ...]:
    return tuple(next((p for p in key if p.strip(SIGNS)), "") for key in shape)


# By attributes


def _attributes(items: Iterable[Item], outside: set[str | None]) -> dict[str, float]:
    """The share of items that have each attribute."""
    count: Counter[str] = Counter()
    total = 0
    for item in items:
        total += 1
        count.update(name for name in item if name not in outside)
    return {name: number / total for name, number in count.items()}


def _similarity(one: dict[str, float], other: dict[str, float]) -> float:
    """Similarity of attributes: 1 for the same, 0 for none in common."""
    every = {*one, *other}
    if not every:
        return 1.0
    both = sum(min(one.get(n, 0.0), other.get(n, 0.0)) for n in every)
    return both / sum(max(one.get(n, 0.0), other.get(n, 0.0)) for n in every)


def _by_attributes(table: TableSchema, found: ItemGroup) -> Iterator[ItemGroup]:
    """For keys without words: items with nothing in common are different entities."""
    if any(_words(found.shape)) or len(found.items) < 2 * FEWEST:
        yield found
        return
    outside = {table.partition, table.sort}
    clusters: list[tuple[dict[str, float], list[Item]]] = []
    for item in found.items:
        own = _attributes([item], outside)
        for number, (theirs, some) in enumerate(clusters):
            if _similarity(own, theirs) >= 0.34:
                some.append(item)
                clusters[number] = _attributes(some[-50:], outside), some
                break
        else:
            clusters.append((own, [item]))
    if len(clusters) > MOST_WORDS or any(len(some) < FEWEST for _, some in clusters):
        yield found
        return
    for _, some in clusters:
        yield ItemGroup(some, "", found.shape)


# By discriminator


def _discriminator(
    table: TableSchema, items: Sequence[Item], shaped: list[ItemGroup]
) -> tuple[str, float] | None:
    """The attribute whose values best split the items into similar groups."""
    outside = {table.partition, table.sort}
    shape_of = {id(item): n for n, each in enumerate(shaped) for item in each.items}
    label: Callable[[Item], int] = lambda item: shape_of[id(item)]  # noqa: E731
    whole = _unlikeness(items, label, outside)
    best: tuple[float, bool, str] | None = None
    for name in dict.fromkeys(name for item in items for name in item):
        if name in outside:
            continue
        values = Counter(
            str(item[name]["S"]) for item in items if name in item and "S" in item[name]
        )
        known = name.lower().replace("-", "_") in KNOWN_DISCRIMINATORS
        if sum(values.values()) < 0.9 * len(items) or len(values) > min(64, len(items) // 3 + 1):
            continue
        if len(values) == 1:
            if known and whole < 0.05 * len(items):
                best = max(best or (0.0, False, ""), (1.0, True, name))
            continue
        if not known and (len(items) / len(values) < 5 or min(values.values()) < 2):
            continue
        split: dict[str, list[Item]] = {}
        for item in items:
            split.setdefault(text(item, name) or "", []).append(item)
        after = sum(_unlikeness(some, label, outside) for some in split.values())
        # Each further group costs its description length, so that names of people do not win.
        cost = len(split) * log2(len(items) + 1) * 2
        explains = 1 - (after + cost) / whole if whole else 0.0
        if explains >= (0.3 if known else 0.7):
            best = max(best or (0.0, False, ""), (explains + (0.2 if known else 0), known, name))
    return (best[2], min(best[0], 1.0)) if best else None


def _unlikeness(
    items: Sequence[Item], label: Callable[[Item], int], outside: set[str | None]
) -> float:
    """The number of bits needed to describe the attributes of the items."""
    shares = _attributes(items, outside)
    bits = sum(_entropy((share, 1 - share)) for share in shares.values())
    shapes = Counter(label(item) for item in items)
    bits += 3 * _entropy(count / len(items) for count in shapes.values())
    return bits * len(items)


def _entropy(shares: Iterable[float]) -> float:
    return -sum(share * log2(share) for share in shares if share > 0)
