"""What time to live will delete, and when."""

from __future__ import annotations

import time
from collections.abc import Iterator

from keyfold_workbench.studio.markup import Child
from keyfold_workbench.studio.notation import count
from keyfold_workbench.studio.parts import empty, grid, link, panel
from keyfold_workbench.studio.view import PageView

AHEAD = (("expired, waits for deletion", 0), ("within an hour", 3600), ("within a day", 86_400),
         ("within a week", 604_800))  # fmt: skip


def expiry_panel(view: PageView) -> Child:
    if not any(table.ttl for table in view.system.schema.tables):
        return None
    rows = list(_expiring_rows(view))
    if not rows:
        return panel(
            "Time to live", empty("Nothing expires", "Items with a time to live appear here.")
        )
    return panel("Time to live", grid([("When", False), ("Items", True), ("First", False)], rows),
                 note="of the items that were looked at")  # fmt: skip


def _expiring_rows(view: PageView) -> Iterator[tuple[Child, ...]]:
    expiring = [one for seen in view.system.survey.tables().values() for one in seen.expiring]
    now, begin = time.time(), float("-inf")
    for words, seconds in (*AHEAD, ("later", float("inf"))):
        found = [item for at, item in expiring if begin < at - now <= seconds]
        begin = seconds
        if found:
            first = found[0]
            yield words, count(len(found)), link(view.item(first), view.item_key(first))
