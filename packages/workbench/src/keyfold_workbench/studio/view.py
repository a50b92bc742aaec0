"""What a page is made from: the request, the system it is about, and the way to other pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from keyfold.design.schema import EntitySchema, Index, TableSchema
from keyfold.design.template import Slot, Template
from keyfold.errors import KeyfoldError
from keyfold_workbench.studio import layout
from keyfold_workbench.studio.items import KnownItem, key_texts, scalar
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.parts import kept_boxes
from keyfold_workbench.studio.system import StudioSystem

LONG_ID: Final = 16
LONG_KEY: Final = 48
"""The longest id, and key that no entity declares, that lists show whole."""
LONGEST: Final = 100
"""What is longer is shown whole nowhere, but on hover and when copied."""
ENDS: Final = 4
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d")


class PageMissing(KeyfoldError):
    """A page that does not exist; says what was looked for."""


class NotWritable(KeyfoldError):
    """The system is shown, and may not be changed."""


@dataclass
class PageView:
    """One request for one page."""

    base: str
    csrf: str
    systems: Mapping[str, StudioSystem]
    query: Mapping[str, str]
    form: Mapping[str, str] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Fields of the form that were given several times."""
    partial: bool = False
    """The script asks for the part that changes, not for the page."""
    asked: frozenset[str] = frozenset()
    """The names of the parts it asks for, where a page has several."""

    @cached_property
    def system(self) -> StudioSystem:
        slug = self.path.get("system", "")
        if slug not in self.systems:
            raise PageMissing(f"Not found: system {slug!r}. Here are {', '.join(self.systems)}.")
        return self.systems[slug]

    def of(self, system: StudioSystem) -> PageView:
        """The same request, about another system."""
        return replace(self, path={"system": system.slug})

    # Addresses

    def home(self) -> str:
        return f"{self.base}/"

    def at(self, *path: str, **query: str | int | None) -> str:
        """A page of the system."""
        return layout.href(self.base, "s", self.system.slug, *path, **query)

    def partition(self, table: str, key: str, index: str | None = None, **query: str | None) -> str:
        return self.at("data", table=table, index=index, pk=key, **query)

    def item(self, item: KnownItem) -> str:
        """The item's partition, with the item chosen."""
        return self.partition(item.table.name, item.partition, isk=item.sort)

    def by_key(self, table: TableSchema, key: Mapping[str, Mapping[str, str]]) -> str:
        partition, sort = key_texts(table, key)
        return self.partition(table.name, partition, isk=sort)

    def require_write(self) -> None:
        if not self.system.writable:
            raise NotWritable(
                self.system.why_read_only
                or f"{self.system.title} is read-only here. Start with --write to change it."
            )
        if self.system.design is None:
            raise NotWritable("Changes need a design that runs.")

    # Forms and frames

    def form_for(
        self,
        action: str,
        kept: Iterable[tuple[str, str]],
        *children: Child,
        **attributes: str | None,
    ) -> Html:
        """A form that changes something: it carries what is kept, and the token of this browser."""
        boxes = kept_boxes([("csrf", self.csrf), *kept])
        return el("form", boxes, *children, action=action, method="post", **attributes)

    def page(
        self,
        title: str,
        *body: Child,
        current: str = "",
        crumbs: Sequence[tuple[Child, str | None]] = (),
    ) -> Html:
        """A page of the system in its frame."""
        system = self.system
        way: list[tuple[Child, str | None]] = [
            ("All systems", self.home()),
            (system.title, self.at("map")),
            *(crumbs or [(title, None)]),
        ]
        return layout.document(
            self.base,
            f"{title} · {system.title}",
            text(*body),
            crumbs=way,
            system=system,
            current=current,
        )

    # Keys and entities

    def chip(self, name: str) -> Html:
        return self.system.palette.chip(name)

    def ent(self, name: str, words: Child = None) -> Html:
        return el("span.ent", self.chip(name), el("span", words or name or "Undeclared"))

    def template(self, entity: EntitySchema, template: Template | None) -> Html:
        """A key's template: constants grey, fields in the colour of what they name."""
        if template is None:
            return text()
        return _joined_keys(self._template(entity, one) for one in template.attributes)

    def _template(self, entity: EntitySchema, template: Template) -> Html:
        parts = (
            el("em", part.text, class_=f"t {self._colour(entity, part.field)}")
            if isinstance(part, Slot)
            else el("span.c", part.text)
            for part in template.parts
        )
        return el("code.key", parts)

    def key(self, stored: str, entity: EntitySchema | None, template: Template | None) -> Html:
        """A stored key, with the ids in it in the colours of what they name."""
        match = template.pattern.fullmatch(stored) if template is not None else None
        if match is None or entity is None:
            return el("code.key", shortened(stored, "c", LONG_KEY))
        spans = sorted((match.span(name), name) for name in match.groupdict())
        parts: list[Child] = []
        end = 0
        for (start, stop), name in spans:
            parts.append(el("span.c", stored[end:start]) if start > end else None)
            colour = self._colour(entity, name)
            parts.append(shortened(stored[start:stop], f"v {colour}", LONG_ID))
            end = stop
        parts.append(el("span.c", stored[end:]) if end < len(stored) else None)
        return el("code.key", parts)

    def partition_key(self, table: TableSchema, stored: str) -> Html:
        """A partition's key, as the first entity that lies there writes it."""
        for entity in self.system.schema.entities_of(table.name):
            template = entity.key.partition if entity.key is not None else None
            if template is not None and template.literal_prefix and template.matches(stored):
                return self.key(stored, entity, template)
        return self.key(stored, None, None)

    def item_key(self, item: KnownItem) -> Html:
        """Partition and sort key of an item."""
        templates = item.entity.key if item.entity is not None else None
        first = self.key(item.partition, item.entity, templates.partition if templates else None)
        if item.sort is None:
            return first
        sort = self.key(item.sort, item.entity, templates.sort if templates else None)
        return _joined_keys([first, sort])

    def index_key(self, item: KnownItem, index: Index, attributes: Iterable[str]) -> Html:
        """What an item has as these key attributes of an index."""
        placements = item.entity.placement(index.name) if item.entity is not None else ()
        given = index.templates(placements[0].key) if placements else ()
        templates = {name: template for name, _, template in given}
        return _joined_keys(
            self.key(scalar(item.wire[name]), item.entity, templates.get(name))
            for name in attributes
        )

    def _colour(self, entity: EntitySchema, field: str) -> str:
        palette = self.system.palette
        return palette.colour(palette.target(entity, field))


def shortened(shown: str, kind: str = "", most: int = LONG_ID) -> Html:
    """A text of which lists show the beginning and the end; whole on hover and when copied.

    A time stays whole: its end says least.
    """
    if len(shown) <= most or (TIME.match(shown) and len(shown) < LONG_KEY):
        return el("span", el("bdi", shown), class_=kind or None)
    middle = el("span", shown[ENDS:-ENDS], class_="mid long" if len(shown) > LONGEST else "mid")
    return el("span", shown[:ENDS], middle, shown[-ENDS:], class_=kind or None, title=shown)


def _joined_keys(keys: Iterable[Html]) -> Html:
    """Attributes of a key, one after the other."""
    separator = text(el("wbr"), el("span.sep", "›", aria_hidden="true"))
    return text(*((separator if at else None, key) for at, key in enumerate(keys)))
