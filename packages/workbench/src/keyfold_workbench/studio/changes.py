"""The live list of what was just written: when, which item, before and after, what follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keyfold_workbench.studio.change_log import StreamedChange
from keyfold_workbench.studio.items import plain, value_text
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.notation import moment
from keyfold_workbench.studio.parts import diff, empty, link, panel
from keyfold_workbench.studio.view import PageView

FIELDS: Final = 4
"""The changed attributes that a row shows."""
DONE: Final = {"INSERT": "created", "MODIFY": "changed", "REMOVE": "deleted"}


def changes_panel(view: PageView, changes: list[StreamedChange]) -> Html:
    """The newest changes: when, which item, before and after, and what follows."""
    if not changes:
        listed = empty("Nothing yet", "Changes of tables with a stream appear here as they happen.")
        return panel("Changes", listed)
    rows = (
        el(
            "li",
            el(
                "div",
                el("span", moment(one.at)[11:19], class_="mono faint"),
                view.ent(one.item.entity.name if one.item.entity else ""),
                el("b", DONE.get(one.kind, one.kind.lower())),
                link(view.item(one.item), view.item_key(one.item)),
                class_="top2",
            ),
            diff(_differences(one)) if one.kind == "MODIFY" else None,
            el("div", _followed(view, one), class_="small muted"),
        )
        for one in changes
    )
    return panel("Changes", el("ul", rows, class_="changes"), note="the newest first")


def _differences(one: StreamedChange) -> Iterator[tuple[str, str | None, str | None]]:
    for name in one.fields[:FIELDS]:
        sides = ((side.wire if side else {}).get(name) for side in (one.old, one.new))
        old, new = (None if value is None else value_text(plain(value)) for value in sides)
        yield name, old, new


def _followed(view: PageView, one: StreamedChange) -> Child:
    """What the design lets follow from this change, by when."""
    entity = one.item.entity
    if entity is None:
        return None
    stored = {attribute.name: attribute.field for attribute in entity.attributes}
    changed = {stored.get(name, name) for name in one.fields}
    said = [
        f"{found.name} ({'same transaction' if found.sync == 'transaction' else 'by the stream'})"
        for found in view.system.schema.follows
        if found.source == entity.name
        and found.sync != "none"
        and (one.kind != "MODIFY" or not found.fields or changed.intersection(found.fields))
    ]
    return f"Followed by {', '.join(said)}." if said else None
