"""Infers key templates: which parts are fixed, which are values, and of which attributes.

A key is read from left to right over all items of one entity at once. A value that equals an
attribute in every item belongs to that attribute, a text that is the same in every item is fixed,
and the rest are values stored only in the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from keyfold.review.draft import names
from keyfold_workbench.adopt.value_format import MOMENT, Item, is_moment, text

MOST_ROWS = 400
AGREE = 0.98
"""The share of items in which a value must equal an attribute to be named after it."""
SIGNS = "#|:/~^;$&!=+"
_WORD_END = "_-."
_TOKEN = re.compile(rf"{MOMENT.pattern}|[^{re.escape(SIGNS)}]+")


@dataclass(frozen=True)
class SlotValue:
    """A slot: the attribute it equals, or None if it is stored only in the key."""

    attribute: str | None
    format: str
    texts: tuple[str, ...]


Part = str | SlotValue
Spelling = tuple[str, Callable[[str], str]]

_SPELLINGS: tuple[Spelling, ...] = (
    ("", lambda value: value),
    ("lowercase", str.lower),
    ("uppercase", str.upper),
)
_BUCKETS: tuple[Spelling, ...] = (
    ("%Y-%m-%d", lambda value: value[:10]),
    ("%Y-%m", lambda value: value[:7]),
    ("%Y", lambda value: value[:4]),
)


def read_key(items: Sequence[Item], attribute: str, hidden: set[str]) -> tuple[Part, ...]:
    """The parts of one key attribute; `hidden` attributes are not considered."""
    step = max(1, len(items) // MOST_ROWS)
    rows = [(item, found) for item in items[::step] if (found := text(item, attribute)) is not None]
    return tuple(_Reading(rows, hidden | {attribute}).parts())


class _Reading:
    """The unread rest of each key, and the parts read so far."""

    def __init__(self, rows: list[tuple[Item, str]], hidden: set[str]) -> None:
        self.items = [item for item, _ in rows]
        self.left = [key for _, key in rows]
        self.read: list[Part] = []
        self.candidates = list(_candidates(self.items, hidden))

    def parts(self) -> list[Part]:
        while any(self.left):
            step = self._attribute_value() or self._fixed_text() or self._bare_value()
            self._take(step)
        return _join(self.read)

    def _take(self, part: Part) -> None:
        lengths = [len(part)] * len(self.left) if isinstance(part, str) else map(len, part.texts)
        self.left = [key[length:] for key, length in zip(self.left, lengths, strict=True)]
        self.read.append(part)

    @property
    def _before(self) -> str:
        """The fixed text directly before."""
        return self.read[-1] if self.read and isinstance(self.read[-1], str) else ""

    def _at_start(self) -> bool:
        return not self.read or (bool(self._before) and not self._before[-1].isalnum())

    def _attribute_value(self) -> SlotValue | None:
        if not self._at_start():
            return None
        found = [value for each in self.candidates for value in self._matches(each)]
        if not found:
            return None
        return max(found, key=lambda pair: pair[0])[1]

    def _matches(self, candidate: _Candidate) -> Iterator[tuple[tuple[float, ...], SlotValue]]:
        for format_, rendered in candidate.spellings():
            texts = self._leading_values(rendered)
            if texts is None or (format_.startswith("%") and self._begins_longer(texts)):
                continue
            near = candidate.words & set(names.words(self._before or " "))
            constant = len(set(texts)) == 1 and len(texts) > 2
            if constant and not near and not any(c.isdigit() for c in texts[0]):
                continue
            length = sum(map(len, texts)) / len(texts)
            order = (length, float(bool(near)), float(not format_), -candidate.position)
            yield (
                order,
                SlotValue(candidate.name, candidate.number_format(texts) or format_, tuple(texts)),
            )
            return

    def _begins_longer(self, texts: Sequence[str]) -> bool:
        """Whether a date or year is the beginning of a full time."""
        found = [MOMENT.match(key) for key in self.left]
        return any(m and len(m[0]) > len(t) for m, t in zip(found, texts, strict=True))

    def _leading_values(self, rendered: Sequence[str | None]) -> list[str] | None:
        """The part of each key before a delimiter that matches these values; empty if they
        differ.
        """
        missed = 0
        allowed = int(len(self.left) * (1 - AGREE))
        texts: list[str] = []
        for key, wanted in zip(self.left, rendered, strict=True):
            taken = _leading(key, wanted)
            if taken is None:
                missed += 1
                if missed > allowed:
                    return None
                taken = _TOKEN.match(key)[0] if _TOKEN.match(key) else ""  # type: ignore[index]
            texts.append(taken)
        return texts

    def _fixed_text(self) -> str | None:
        """The common text of all keys, up to the end of a word; common times are values."""
        common = _common_start(self.left)
        if not common:
            return None
        if all(key == common for key in self.left):
            return common if len(self.left) > 2 else _leading_word(common)
        if all(MOMENT.match(key) for key in self.left) and not _signs(common):
            return None
        ends = [len(_signs(common) or "")]
        ends += [place + 1 for place, sign in enumerate(common) if sign in SIGNS + _WORD_END]
        # A word that ends here in every key, before a delimiter that only some of them have.
        if all(not key[len(common) :][:1].isalnum() for key in self.left):
            ends.append(len(common))
        for end in sorted(ends):
            if self._value_begins(common[:end]):
                break
        return common[:end] or None

    def _value_begins(self, fixed: str) -> bool:
        """Whether an attribute's value or a time follows this text in every key."""
        if not fixed:
            return False
        ahead = _Reading([], set())
        ahead.left = [key[len(fixed) :] for key in self.left]
        if all(MOMENT.match(key) for key in ahead.left):
            return True
        ahead.read, ahead.candidates = [*self.read, fixed], self.candidates
        return ahead._attribute_value() is not None

    def _bare_value(self) -> SlotValue:
        texts = [self._token(key) for key in self.left]
        signs = {key[len(found) :][:1] for key, found in zip(self.left, texts, strict=True)}
        if len(signs) > 1:
            # Only some keys continue: the delimiter belongs to the value.
            shared = _shared_sign(self.left)
            texts = [key.partition(shared)[0] if shared else key for key in self.left]
        return SlotValue(None, "", tuple(texts))

    def _token(self, key: str) -> str:
        found = _TOKEN.match(key)
        if found is None:
            return key[:1]
        whole = found[0]
        return key if is_moment(key) else whole


@dataclass(frozen=True)
class _Candidate:
    """An attribute whose values may appear in a key."""

    name: str
    position: int
    values: tuple[str | None, ...]
    number: bool

    @property
    def words(self) -> set[str]:
        found = names.words(self.name.rpartition(".")[2])
        return {*found, "".join(found)}

    def spellings(self) -> Iterator[tuple[str, list[str | None]]]:
        if self.number:
            yield "d", list(self.values)
            return
        moments = all(value is None or is_moment(value) for value in self.values)
        for format_, render in (_SPELLINGS[0], *_BUCKETS) if moments else _SPELLINGS:
            yield format_, [None if v is None else render(v) for v in self.values]

    def number_format(self, texts: Sequence[str]) -> str:
        """`07d` if the number has leading zeros."""
        widths = {len(found) for found in texts}
        if self.number and len(widths) == 1 and any(found.startswith("0") for found in texts):
            return f"0{widths.pop()}d"
        return ""


def _candidates(items: Sequence[Item], hidden: set[str]) -> Iterator[_Candidate]:
    seen = dict.fromkeys(name for item in items for name in item)
    for position, name in enumerate(name for name in seen if name not in hidden):
        kinds = {next(iter(item[name])) for item in items if name in item}
        if kinds == {"M"}:
            inner = [item.get(name, {}).get("M", {}) for item in items]
            for field in dict.fromkeys(f for each in inner for f in each):  # type: ignore[attr-defined]
                values = tuple(text(each, field) for each in inner)  # type: ignore[arg-type]
                if field.isidentifier() and not any(value is None for value in values):
                    yield _Candidate(f"{name}.{field}", 100 + position, values, number=False)
            continue
        if kinds not in ({"S"}, {"N"}):
            continue
        values = tuple(text(item, name) for item in items)
        if sum(value is None for value in values) <= len(values) * (1 - AGREE):
            yield _Candidate(name, position, values, number=kinds == {"N"})


def _leading(key: str, wanted: str | None) -> str | None:
    if not wanted:
        return None
    if wanted.isdigit():
        digits = re.match(r"\d+", key)
        if digits and digits[0] != wanted and digits[0].lstrip("0") == wanted:
            return digits[0] if not key[len(digits[0]) :][:1].isalnum() else None
    if not key.startswith(wanted):
        return None
    return wanted if not key[len(wanted) :][:1].isalnum() else None


def _common_start(keys: Sequence[str]) -> str:
    first, last = min(keys), max(keys)
    same = (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(same, min(len(first), len(last)))]


def _leading_word(common: str) -> str | None:
    """For a key seen only once or twice: its delimiters and first word, `state_` of `state_be`."""
    if signs := _signs(common):
        return signs
    found = re.match(r"[A-Za-z]+(?:_\d+(?![A-Za-z0-9])|_)?", common)
    if found is None or (common[found.end() :][:1].isalnum() and not found[0].endswith("_")):
        return None
    return found[0]


def _signs(key: str) -> str | None:
    found = re.match(rf"[{re.escape(SIGNS)}]+", key)
    return found[0] if found else None


def _shared_sign(keys: Sequence[str]) -> str:
    """A delimiter that occurs once in every key: the text before it is one value."""
    for sign in SIGNS:
        if all(key.count(sign) == 1 for key in keys):
            return sign
    return ""


def _join(parts: Sequence[Part]) -> list[Part]:
    """Adjacent texts become one text, adjacent values one value."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif isinstance(part, SlotValue) and isinstance(last, SlotValue):
            texts = tuple(a + b for a, b in zip(last.texts, part.texts, strict=True))
            joined[-1] = SlotValue(None, "", texts)
        else:
            joined.append(part)
    return joined
