"""Names for drafted entities and key values, from the words around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic.alias_generators import to_camel, to_pascal

from keyfold.design.schema import TableSchema
from keyfold.review.draft import names
from keyfold_workbench.adopt.item_groups import ItemGroup
from keyfold_workbench.adopt.key_parts import Part, SlotValue

SYNTHETIC = re.compile(
    r"_*(?:g|l)s(?:i)?_?\d.*|.*(?:^|[_\d])(?:pk|sk)$|_*(?:pk|sk|hash|range)_?\d*$|.*(?:PK|SK)$|"
    r"(?:partition|sort|hash|range)[-_]?key$|data$",
    re.IGNORECASE,
)
"""Key attributes that hold templates rather than domain values."""
_SAYS_NOTHING = {
    "metadata", "meta", "info", "data", "root", "details", "detail", "self", "item", "main", "a",
    "record", "profile", "summary", "header", "v0", "current",
}  # fmt: skip
_OF_TABLES = {"table", "tables", "store", "dev", "test", "prod", "stage", "staging", "main", "none"}


def is_synthetic(attribute: str) -> bool:
    return SYNTHETIC.fullmatch(attribute) is not None


def titles(
    table: TableSchema, groups: Sequence[ItemGroup], keys: Sequence[Mapping[str, Sequence[Part]]]
) -> list[str]:
    """A unique name for each group."""
    both = list(zip(groups, keys, strict=True))
    wanted = [_title(table, each, parts, len(groups)) for each, parts in both]
    wanted = [
        _finer(table, t, p, wanted) if not g.named else t
        for t, (g, p) in zip(wanted, both, strict=True)
    ]
    named: list[str] = []
    for (each, parts), title in zip(both, wanted, strict=True):
        if (wanted.count(title) > 1 and not each.named) or title in named:
            title = _qualified_title(table, title, parts, wanted)
        number, unique = 2, title
        while unique in named:
            unique, number = f"{title}{number}", number + 1
        named.append(unique)
    return named


def _title(
    table: TableSchema, each: ItemGroup, parts: Mapping[str, Sequence[Part]], number: int
) -> str:
    if each.named:
        return names.title(each.named)
    partition = fixed_words(parts.get(table.partition, ()))
    sort = fixed_words(parts.get(table.sort, ())) if table.sort else []
    heads = [_head(shape) for shape in each.shape]
    partition = partition or heads[:1] * bool(heads and heads[0])
    if not partition and not sort:
        return _by_key(table, parts) if number > 1 else _of_table(table)
    telling = [word for word in sort if word.lower() not in _SAYS_NOTHING]
    nothing = [word for word in sort if word.lower() in _SAYS_NOTHING]
    own = telling or [word for word in partition if word.lower() not in _SAYS_NOTHING]
    if telling and partition[-1:] and _ends_fixed(parts, table):
        own, telling = partition, []
    if not own and _by_key(table, parts) != _of_table(table):
        return _by_key(table, parts)
    if not own:
        return names.title((nothing or partition)[0])
    chosen = own[-1] if not telling else telling[0]
    if len(chosen) <= 2 and nothing and not telling:
        return names.title(nothing[0])
    if len(chosen) <= 2:
        return _spelled_out(chosen, own, parts, table)
    return names.title(singular(chosen))


def _ends_fixed(parts: Mapping[str, Sequence[Part]], table: TableSchema) -> bool:
    """Whether the partition key names the kind of its items after the id: `u#1#follower`."""
    partition = parts.get(table.partition, ())
    return bool(partition) and isinstance(partition[-1], str) and len(partition) > 1


def _head(shape: Sequence[str]) -> str:
    return next((mark[:-1] for mark in shape if mark.endswith("*") and len(mark) > 1), "")


def _spelled_out(
    word: str, own: Sequence[str], parts: Mapping[str, Sequence[Part]], table: TableSchema
) -> str:
    """Expands an abbreviation: `u` is the user if a userId stands beside it."""
    longer = [w for w in own if len(w) > 2]
    if longer:
        return names.title(singular(longer[-1]))
    for attribute in (table.sort, table.partition):
        for part in parts.get(attribute or "", ()):
            if isinstance(part, SlotValue) and part.attribute:
                stem = names.words(part.attribute)
                stem = stem[:-1] if len(stem) > 1 and stem[-1] in ("id", "number") else stem
                if "".join(stem).startswith(word.lower()):
                    return names.title(" ".join(stem))
    return names.title(word)


def _by_key(table: TableSchema, parts: Mapping[str, Sequence[Part]]) -> str:
    for attribute in (table.sort, table.partition):
        for part in parts.get(attribute or "", ()):
            if isinstance(part, SlotValue) and part.attribute:
                stem = names.words(part.attribute)
                if len(stem) > 1 and stem[-1] in ("id", "uuid"):
                    return names.title(" ".join(stem[:-1]))
    return _of_table(table)


def _of_table(table: TableSchema) -> str:
    """The table's name without affixes added by tools."""
    stem = re.sub(r"-[a-z0-9]{20,32}(?:-\w+)?$", "", table.name)
    found = [word for word in names.words(stem) if word not in _OF_TABLES]
    return names.title(singular(" ".join(found or names.words(stem))))


def _finer(
    table: TableSchema, title: str, parts: Mapping[str, Sequence[Part]], wanted: Sequence[str]
) -> str:
    """The last word of several if the first belongs to another entity: an item of an order."""
    sort = fixed_words(parts.get(table.sort, ())) if table.sort else []
    if wanted.count(title) > 1 and len(sort) > 1 and len(sort[-1]) > 2:
        return names.title(singular(sort[-1]))
    return title


def _qualified_title(
    table: TableSchema, title: str, parts: Mapping[str, Sequence[Part]], wanted: Sequence[str]
) -> str:
    partition = fixed_words(parts.get(table.partition, ()))
    words = [names.title(singular(word)) for word in partition]
    if title in words:
        return title  # The entity itself; others only refer to it.
    if words and words[-1] not in wanted and len(partition[-1]) > 2:
        return words[-1]
    before = next((w for w in partition if names.title(singular(w)) != title), "")
    sort = fixed_words(parts.get(table.sort, ())) if table.sort else []
    after = next((w for w in sort if names.title(singular(w)) != title), "")
    if before:
        return f"{names.title(singular(before))}{title}"
    return f"{title}{names.title(singular(after))}" if after else title


def fixed_words(parts: Iterable[Part]) -> list[str]:
    """The words in a key's fixed texts."""
    texts = [part for part in parts if isinstance(part, str)]
    found = [word.strip("_-") for each in texts for word in re.split(r"[^A-Za-z0-9_-]+", each)]
    return [word for word in found if any(sign.isalpha() for sign in word)]


def singular(word: str) -> str:
    """`ORDERS` becomes `order`."""
    low = word.lower()
    if low.endswith("ies") and len(word) > 4:
        return word[:-3] + ("Y" if word.isupper() else "y")
    if low.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


class SlotNames:
    """Names for values stored only in keys: one name per value of an entity."""

    def __init__(self, attributes: Iterable[str]) -> None:
        found = list(attributes)
        self._taken = set(found)
        self._style = _style([name for name in found if not is_synthetic(name)])
        self._known: dict[tuple[str, ...], str] = {}
        self.asked: list[str] = []

    def name(self, value: SlotValue, before: str, key: str) -> str:
        known = self._known.get(value.texts)
        if known:
            return known
        words = fixed_words([before])
        if words:
            stem = names.words(singular(words[-1]))
            stem = stem if stem[-1] in ("id", "date") else [*stem, "id"]
        elif is_synthetic(key):
            stem = ["sort" if re.search("s", key[-2:], re.IGNORECASE) else "partition", "id"]
        else:
            stem = names.words(key)
        made = base = self._style("_".join(stem))
        number = 2
        while made in self._taken:
            made, number = f"{base}{number}", number + 1
        self._taken.add(made)
        self._known[value.texts] = made
        self.asked.append(made)
        return made


def _style(attributes: Sequence[str]) -> Callable[[str], str]:
    """The naming style of the table's own attributes."""
    if any("_" in name.strip("_") for name in attributes):
        return str
    capital = [name for name in attributes if name[:1].isupper()]
    return to_pascal if len(capital) > len(attributes) / 2 else to_camel
