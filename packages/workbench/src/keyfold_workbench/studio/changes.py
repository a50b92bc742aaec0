"""The live list of what was just written: when, which item, before and after, what follows."""

from __future__ import annotations

from typing import Final

from keyfold_workbench.studio.change_log import StreamedChange
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
                "div.top2",
                el("span.mono.faint", moment(one.at)[11:19]),
                view.ent(one.item.entity.name if one.item.entity else ""),
                el("b", DONE.get(one.kind, one.kind.lower())),
                link(view.item(one.item), view.item_key(one.item)),
            ),
            diff(one.differences[:FIELDS]) if one.kind == "MODIFY" else None,
            el("div.small.muted", _followed(view, one)),
        )
        for one in changes
    )
    return panel("Changes", el("ul.changes", rows), note="the newest first")


def _followed(view: PageView, one: StreamedChange) -> Child:
    """What the design lets follow from this change, by when."""
    entity = one.item.entity
    if entity is None:
        return None
    stored = {attribute.name: attribute.field for attribute in entity.attributes}
    changed = {stored.get(name, name) for name, _, _ in one.differences}
    said = [
        f"{found.name} ({'same transaction' if found.sync == 'transaction' else 'by the stream'})"
        for found in view.system.schema.follows
        if found.source == entity.name
        and found.sync != "none"
        and (one.kind != "MODIFY" or not found.fields or changed.intersection(found.fields))
    ]
    return f"Followed by {', '.join(said)}." if said else None
