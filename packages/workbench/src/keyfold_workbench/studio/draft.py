"""A pending change: the item as it was read, the input, and the resulting writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import orjson
from pydantic import ValidationError

from keyfold.design.entity import Entity
from keyfold.design.validation import complaints
from keyfold.runtime import transaction
from keyfold.runtime.intent import Intent
from keyfold_workbench.studio.entry import read_fields
from keyfold_workbench.studio.items import KnownItem
from keyfold_workbench.studio.relatives import read_entity
from keyfold_workbench.studio.shape import Given
from keyfold_workbench.studio.view import PageMissing, PageView

Verb = Literal["create", "update", "delete"]
BOX = "f-"
"""The name prefix of form fields that hold a value."""


class ItemDraft:
    """A pending change, from the form."""

    def __init__(self, view: PageView, entity: type[Entity], verb: Verb) -> None:
        self.view, self.entity, self.verb = view, entity, verb
        self.read: KnownItem | None = None
        """The item as it was when the form was opened."""
        self.before: Entity | None = None
        self.given: dict[str, list[str]] = {}
        """What the boxes of the form hold, by their paths."""
        self.problems: dict[str, str] = {}

    @property
    def values(self) -> dict[str, Any]:
        found, problems = read_fields(self.entity, self.given, is_new=self.verb == "create")
        self.problems |= problems
        return found

    @property
    def changes(self) -> dict[str, Any]:
        """The fields whose value differs from what was read."""
        return {
            name: value
            for name, value in self.values.items()
            if value != getattr(self.before, name)
        }

    def intents(self) -> list[Intent]:
        if self.verb == "create":
            try:
                return [transaction.create(self.entity(**self.values))]
            except ValidationError as wrong:
                self.problems = complaints(wrong) | self.problems
                return []
        if self.before is None:
            raise PageMissing("Not found: the item that this form was opened for.")
        changes = {} if self.verb == "delete" else self.changes
        where = _unchanged(self.before, changes)
        if self.verb == "delete":
            return [transaction.delete(self.before, must_exist=True)]
        if not changes:
            return []
        more = {"where": where} if where is not None else {}
        return [transaction.update(self.before, **changes, **more)]


def _unchanged(before: Entity, changes: Mapping[str, Any]) -> Any:
    """Without a version, changed fields must still have their old values."""
    if before.__spec__.version is not None:
        return None
    plain = {
        name: getattr(before, name)
        for name in changes
        if isinstance(getattr(before, name), str | int | float)
    }
    if not plain:
        return None

    def where(item: Any) -> Any:
        asked: Any = None
        for name, value in plain.items():
            one = getattr(item, name) == value
            asked = one if asked is None else asked & one
        return asked

    return where


def class_of(view: PageView, name: str) -> type[Entity]:
    design = view.system.design
    found = design.entities.get(name) if design is not None else None
    if found is None:
        raise PageMissing(f"Not found: entity {name!r}, as a class that can be written.")
    return found


def of_item(view: PageView, item: KnownItem, verb: Verb) -> ItemDraft:
    if item.entity is None:
        raise PageMissing("No entity declares this item, so the studio cannot write it.")
    draft = ItemDraft(view, class_of(view, item.entity.name), verb)
    draft.read, draft.before = item, read_entity(view.system, item)
    if draft.before is None:
        raise PageMissing(f"This item cannot be read as {item.entity.name}: see its wire JSON.")
    return draft


def draft_of_form(view: PageView) -> ItemDraft:
    verb: Verb = "update"
    for known in ("create", "update", "delete"):
        if view.form.get("verb") == known:
            verb = known
    wire = view.form.get("read", "")
    if verb == "create":
        draft = ItemDraft(view, class_of(view, view.form.get("entity", "")), verb)
    else:
        table = view.system.table(view.form.get("table", ""))
        try:
            item = orjson.loads(wire)
        except orjson.JSONDecodeError:
            item = None
        if table is None or not isinstance(item, dict):
            raise PageMissing("Not found: the item that this form was opened for.")
        draft = of_item(view, view.system.reader.read(table, item), verb)
    draft.given = {
        name.removeprefix(BOX): list(texts)
        for name, texts in view.lists.items()
        if name.startswith(BOX)
    }
    return draft


def kept_fields(draft: ItemDraft, given: Given | None = None, **more: str) -> list[tuple[str, str]]:
    """The state that the form was opened with, which a later write must still find, and what is
    `given` in boxes that are not shown.
    """
    kept = [("entity", draft.entity.__name__), *more.items()]
    if draft.read is not None:
        wire = orjson.dumps(draft.read.wire).decode()
        kept += [("table", draft.read.table.name), ("read", wire)]
    for path, texts in (given or {}).items():
        kept += [(f"{BOX}{path}", one) for one in texts or ("",)]
    return kept
