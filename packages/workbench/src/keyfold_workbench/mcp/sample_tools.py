"""Tools that generate realistic items of a design, for display or for the tables."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from keyfold.design.entity import Entity
from keyfold.errors import AlreadyExists, KeyfoldError
from keyfold.review.draft.declarations import declarations_of
from keyfold.rows.item_writer import put
from keyfold_workbench.adopt.made_items import ItemMaker
from keyfold_workbench.mcp.tool import ToolAnswer, as_json, fitting, tool
from keyfold_workbench.mcp.workspace import Workspace

MOST_MADE = 50


class MadeItems(ToolAnswer):
    """Generated items; they are not stored."""

    items: list[dict[str, Any]] = Field(description="Each with its entity, typed, by field.")
    total: int
    next_offset: int | None = Field(None, description="The next item; null at the end.")


class StoredItems(ToolAnswer):
    """Generated items now in the tables, with all their consequences."""

    stored: int
    units: float


class SampleTools:
    """Items from a seed: the same seed gives the same items."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool(then="The same seed and numbers give them to store_items.")
    def make_items(
        self,
        items: int = 20,
        seed: int = 0,
        counts: dict[str, int] | None = None,
        text: str = "",
        offset: int = 0,
    ) -> MadeItems:
        """Realistic, consistent items of the design, or of a design file's `text`.

        `counts` sets the number per entity. Nothing is stored.
        """
        if text:
            schema = self._workspace.schema_of(text)
            maker = ItemMaker(declarations_of(schema, "the given text"), seed, schema)
        else:
            maker = ItemMaker(self._workspace.design, seed)
        made = [_plain(one) for one in _make(maker, items, counts)]
        shown, rest = fitting(made, offset)
        return MadeItems(items=shown, total=len(made), next_offset=rest)

    @tool(writes=True, idempotent=False, then="Read them with list_items, or run a pattern.")
    def store_items(
        self, items: int = 20, seed: int = 0, counts: dict[str, int] | None = None
    ) -> StoredItems:
        """Store the items that make_items returns for the same seed and numbers."""
        maker = ItemMaker(self._workspace.design, seed)
        made, done = list(_make(maker, items, counts)), 0

        def progress(number: int) -> None:
            nonlocal done
            done = number

        with self._workspace.db(write=True) as (db, client):
            try:
                put(db, made, progress)
            except AlreadyExists as problem:
                raise KeyfoldError(
                    f"{done} of {len(made)} items were stored, then: {problem}. Try another seed"
                ) from None
            return StoredItems(stored=done, units=client.units)


def _make(maker: ItemMaker, items: int, counts: dict[str, int] | None) -> list[Entity]:
    asked = counts or {}
    if negative := [name for name, number in asked.items() if number < 0]:
        raise KeyfoldError(f"counts of {', '.join(negative)} must be at least 0")
    wanted = sum(asked.values())
    if items < 1 or max(items, wanted) > MOST_MADE:
        raise KeyfoldError(f"ask for 1 to {MOST_MADE} items at once, not {max(items, wanted)}")
    return list(maker.make(items, asked))[:MOST_MADE]


def _plain(one: Entity) -> dict[str, Any]:
    values = as_json(one.model_dump())
    return {"entity": type(one).__name__, **values}
