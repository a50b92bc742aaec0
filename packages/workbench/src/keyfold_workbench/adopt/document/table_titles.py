"""The tables that a document names: which of its names are one table, and which has the rest."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold_workbench.adopt.document.scope import ordered_words
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    DocumentStatement,
    KeyStatement,
    PatternStatement,
    TableStatement,
)

Words = tuple[str, ...]


class TableTitles:
    """The names of a document's tables, by their words."""

    def __init__(self, said: Sequence[DocumentStatement]) -> None:
        self.own_keys = [s for s in said if isinstance(s, KeyStatement) and is_attribute(s)]
        """Keys that are attributes by name, as of a table with one kind of item: `PK: userId`."""
        told = [s for s in said if s.table and not isinstance(s, PatternStatement)]
        self._owners = {ordered_words(s.table or s.entity) for s in self.own_keys}
        every = {ordered_words(s.table) for s in told} | self._owners
        self._only = self._only_table(said)
        self._found: dict[str, Words] = {}
        self._described = {
            ordered_words(s.entity) for s in said if isinstance(s, AttributeStatement)
        }
        named = {
            ordered_words(s.table or s.title): s.name
            for s in said
            if isinstance(s, TableStatement) and s.name
        }
        self._known = {
            t
            for t in every
            if t
            and not any(
                _ends(other, t)
                and (named.get(other) == named.get(t) or not (t in named and other in named))
                for other in every
            )
        }
        self._known = {self._only[0]} if self._only else self._known
        self.several = len(self._known) > 1
        self.main = self._main(said) if self.several else None
        """The statement of the only table that is named and has no items: it has the others'."""

    def words(self, title: str) -> Words:
        """The words of a table, none if the document has only one: `Orders` is `shop-orders-dev`,
        if no other table ends so."""
        return self._of(title or self.main_title) if self.several else ()

    @property
    def main_title(self) -> str:
        return self.main.table or self.main.title if self.main else ""

    def entity_of(self, s: KeyStatement) -> str:
        """The entity of a key: of the only table its title, whatever section tells its key."""
        named = s.notation == "a row of keys" and ordered_words(s.entity) in self._described
        is_table = self._only and not s.table and is_attribute(s) and not named
        return self._only[1] if self._only and is_table else s.entity

    def is_owner(self, title: str) -> bool:
        """Whether an entity's name is that of a table."""
        return self._of(title) in self._owners

    def title_of(self, s: KeyStatement) -> str:
        """The table of a key: told, or the entity that is a table."""
        return s.table or (s.entity if is_attribute(s) or self.is_owner(s.entity) else "")

    def _of(self, title: str) -> Words:
        if title not in self._found:
            words = ordered_words(title)
            same = {known for known in self._known if words and known[-len(words) :] == words}
            same = same & {words} or same
            self._found[title] = same.pop() if len(same) == 1 else words
        return self._found[title]

    def _only_table(self, said: Sequence[DocumentStatement]) -> tuple[Words, str] | None:
        """The one table with a name, if no section gives it another key."""
        named = {ordered_words(s.name): s for s in said if isinstance(s, TableStatement) and s.name}
        keys = {(s.side.side, s.side.attribute) for s in self.own_keys}
        keys |= {k[:2] for s in said if isinstance(s, TableStatement) for k in s.keys}
        titles = {ordered_words(s.table) for s in said if s.table} - {()}
        if len(named) != 1 or len(keys) > len({side for side, _ in keys}) or len(titles) > 1:
            return None
        words, statement = named.popitem()
        return words, statement.table or statement.title or statement.name

    def _main(self, said: Sequence[DocumentStatement]) -> TableStatement | None:
        items = [s for s in said if isinstance(s, KeyStatement) and not s.side.index]
        held = {self._of(self.title_of(s)) for s in items}
        named = {
            self._of(s.table or s.title): s
            for s in said
            if isinstance(s, TableStatement) and s.name and (s.table or s.title)
        }
        free = [s for words, s in named.items() if words not in held]
        return free[0] if len(free) == 1 and () in held else None


def is_attribute(s: KeyStatement) -> bool:
    """Whether the whole key is the attribute of its own name."""
    return not s.side.index and s.key.is_field and s.key.fields == [s.side.attribute]


def _ends(longer: Words, shorter: Words) -> bool:
    return len(shorter) < len(longer) and longer[-len(shorter) :] == shorter
