"""Where an entity's items are stored: the constant text of its primary key.

Every index projects the primary key, so a reader can tell its own items from a migration's copies
under another key without any other attribute, and without knowing of the migration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from keyfold.design.template import DELIMITER, Literal, Template


@dataclass(frozen=True)
class KeyText:
    """What all values of one key attribute have in common."""

    start: str
    delimiters: int | None
    """None if a value may contain any number."""
    whole: bool = False

    @classmethod
    def of(cls, template: Template, *, typed: bool) -> KeyText:
        if template.is_literal:
            return cls(template.text, template.text.count(DELIMITER), whole=True)
        texts = [part.text for part in template.parts if isinstance(part, Literal)]
        is_counted = typed and not template.is_bare_field
        marks = "".join(texts).count(DELIMITER) if is_counted else None
        return cls(template.literal_prefix, marks)

    def test(self, value: str) -> str:
        """The expression that says whether a value is of this form."""
        if self.whole:
            return f"{value} == {self.start!r}"
        counted = f" and {value}.count({DELIMITER!r}) == {self.delimiters}"
        return f"{value}.startswith({self.start!r}){'' if self.delimiters is None else counted}"

    @cached_property
    def holds(self) -> Callable[[str], bool]:
        found: Callable[[str], bool] = eval(f"lambda value: {self.test('value')}")
        return found

    def is_apart_from(self, other: KeyText) -> bool:
        """Whether no value can be of both."""
        if self.whole:
            return not other.holds(self.start)
        if other.whole:
            return not self.holds(other.start)
        if not (self.start.startswith(other.start) or other.start.startswith(self.start)):
            return True
        return None not in (self.delimiters, other.delimiters) and (
            self.delimiters != other.delimiters
        )


@dataclass(frozen=True)
class Home:
    """The texts of a primary key, by attribute."""

    texts: tuple[tuple[str, KeyText], ...]

    @classmethod
    def of(cls, templates: Mapping[str, Template], *, typed: bool) -> Home:
        """By attribute; `typed` says whether items have a type. Without one, an item whose key has
        another form may be a mistake that a reader is told of, not a copy.
        """
        found = ((name, KeyText.of(one, typed=typed)) for name, one in templates.items())
        return cls(tuple((n, t) for n, t in found if t.start or t.delimiters is not None))

    @cached_property
    def holds(self) -> Callable[[Mapping[str, Any]], bool]:
        """Whether an item with its primary key is here; compiled, for every item of a page."""
        tests = (text.test(f'item[{name!r}].get("S", "")') for name, text in self.texts)
        found: Callable[..., bool] = eval(f"lambda item: {' and '.join(tests) or True}")
        return found

    @property
    def filter(self) -> str:
        """The same as a filter, for programs that read with another client."""
        return " AND ".join(
            f'{name} = "{text.start}"' if text.whole else f'begins_with({name}, "{text.start}")'
            for name, text in self.texts
            if text.start
        )

    def begins_apart_from(self, other: Home) -> bool:
        """Whether `filter` tells the keys of the two apart."""
        return self._without_delimiters.is_apart_from(other._without_delimiters)

    @property
    def _without_delimiters(self) -> Home:
        return Home(tuple((name, replace(text, delimiters=None)) for name, text in self.texts))

    def is_apart_from(self, other: Home) -> bool:
        """Whether no key can be of both."""
        theirs = dict(other.texts)
        return any(name in theirs and text.is_apart_from(theirs[name]) for name, text in self.texts)
