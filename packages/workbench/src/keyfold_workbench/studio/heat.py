"""Heat: the busiest keys, as counted by the engine and as predicted by the workload."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold.design.schema import TableSchema
from keyfold_engine.engine import Engine
from keyfold_workbench.cost.bill import WARM
from keyfold_workbench.studio.items import scalar
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.notation import count, rate
from keyfold_workbench.studio.parts import bar, empty, grid, link, panel, state
from keyfold_workbench.studio.view import PageView

ROWS = 20
MOST = 10
"""Keys of a table that are shown."""


def counted_panel(view: PageView) -> Html:
    """The keys that were read and written most, by the engine's own counts."""
    engine = _engine(view)
    if engine is None:
        says = (
            "The embedded engine counts keys. Amazon shows them in CloudWatch, as contributor "
            "insights."
        )
        return panel("Heat as counted", empty("Not counted here", says))
    tables = [table for table in view.system.schema.tables if _is_on(view, table)]
    note = view.form_for(
        view.at("heat"),
        el(
            "button",
            "Stop counting" if tables else "Count keys from now on",
            class_="btn",
            type="submit",
            name="act",
            value="DISABLE" if tables else "ENABLE",
            disabled=not view.system.writable,
        ),
    )
    rows = [row for table in tables for row in _rows(view, engine, table)]
    if not rows:
        title = "Nothing read or written yet" if tables else "Not counted yet"
        says = "Reads and writes of this process are counted by key once this is on."
        return panel("Heat as counted", empty(title, says), footer=note)
    columns = [("Table", False), ("Key", False), ("Of the busiest", False), ("Calls", True)]
    return panel(
        "Heat as counted", grid(columns, rows), note="in this process, pages included", footer=note
    )


def _rows(view: PageView, engine: Engine, table: TableSchema) -> list[tuple[Child, ...]]:
    found = engine.contributors(view.system.physical(table), most=MOST)
    most = max((number for _, number in found), default=1)
    return [
        (
            table.name,
            link(
                view.partition(table.name, scalar(key[table.partition])),
                view.partition_key(table, scalar(key[table.partition])),
            ),
            bar(number / most, "acc"),
            count(number),
        )
        for key, number in found
    ]


def _engine(view: PageView) -> Engine | None:
    client = view.system.client
    return client.engine if isinstance(client, EmbeddedClient) else None


def _is_on(view: PageView, table: TableSchema) -> bool:
    asked = {"TableName": view.system.physical(table)}
    answer = view.system.call("DescribeContributorInsights", asked)
    return str(answer["ContributorInsightsStatus"]).startswith("ENABL")


def switch(view: PageView) -> Response:
    """Enable or disable counting by key."""
    view.require_write()
    act = "DISABLE" if view.form.get("act") == "DISABLE" else "ENABLE"
    if _engine(view) is not None:
        for table in view.system.schema.tables:
            asked = {"TableName": view.system.physical(table), "ContributorInsightsAction": act}
            view.system.call("UpdateContributorInsights", asked)
    return RedirectResponse(view.at("partitions"), 303)


def foreseen_panel(view: PageView) -> Html:
    """The busiest key of each table and index under the workload."""
    bill = view.system.bill
    if bill is None:
        says = "Start the studio with --workload FILE to see the busiest keys."
        return panel("Heat as foreseen", empty("No workload", says))
    rows = (
        (
            el("code", str(one.path)),
            el("code", one.key),
            bar(one.share, "acc"),
            f"{rate(one.units)} {one.kind}",
            state(
                "bad" if one.share >= 1 else "warn" if one.share >= WARM else "ok",
                f"{one.share:.0%}" if one.share >= 0.01 else "under 1%",
            ),
        )
        for one in bill.hot[:ROWS]
    )
    columns = [
        ("Table or index", False),
        ("Key", False),
        ("Of a partition", False),
        ("Units a second", True),
        ("Used", False),
    ]
    return panel(
        "Heat as foreseen", grid(columns, rows), note="the busiest key of each, by the workload"
    )
