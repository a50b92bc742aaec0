"""Partitions: their size and heat, the largest items, collections that grow."""

from __future__ import annotations

from keyfold_engine.limits import GB
from keyfold_workbench.studio.heat import counted_panel, foreseen_panel
from keyfold_workbench.studio.items import KnownItem
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.notation import count, plural, size, size_with_unit
from keyfold_workbench.studio.parts import banner, bar, empty, grid, head, link, live_part, panel, state
from keyfold_workbench.studio.survey import TableSurvey
from keyfold_workbench.studio.view import PageView

PATIENCE = 5.0
"""Seconds that the first look at the tables is waited for; then the sizes come by themselves."""
ROWS = 20
ITEM_BYTES = 400 * 1024
COLLECTION_BYTES = 10 * GB


def partitions(view: PageView) -> Html:
    """What is large and what is busy, by partition key."""
    survey = view.system.survey
    seen = survey.tables(PATIENCE)
    parts = [_table(view, one) for one in seen.values() if one.seen]
    rough = any(not one.complete for one in seen.values())
    says = (
        "Size by partition key, from the first pages of each table; ~ marks estimates."
        if rough
        else "Size by partition key, from all items; heat from the workload."
    )
    nothing = empty("No items", "Partitions of stored items appear here.")
    sizes = live_part(
        "sizes",
        banner("warn" if survey.is_first_look else "bad", survey.notice) if survey.notice else None,
        parts or (None if survey.notice else nothing),
        lasting=survey.is_first_look,
    )
    if view.partial:
        return sizes
    return view.page(
        "Partitions",
        head("Partitions", says),
        el(
            "div",
            sizes,
            counted_panel(view),
            foreseen_panel(view),
            class_="stack",
        ),
        current="partitions",
    )


def _table(view: PageView, one: TableSurvey) -> Html:
    total = sum(one.partition_bytes.values()) or 1
    ranked = one.partition_bytes.most_common(ROWS)
    rows = (
        (
            link(view.partition(one.table.name, key), view.partition_key(one.table, key)),
            bar(bytes / ranked[0][1]),
            count(one.partitions[key]),
            size_with_unit(bytes),
            f"{bytes / total:.1%}",
        )
        for key, bytes in ranked
    )
    columns = [
        ("Partition", False),
        ("Size", False),
        ("Items", True),
        ("Bytes", True),
        ("Of all", True),
    ]
    whole, unit = size(one.bytes)
    note = f"{plural(len(one.partitions), 'partition')} seen · {whole} {unit}"
    return el(
        "div",
        panel(one.table.name, grid(columns, rows), note=note),
        el("div", _largest(view, one), _growing(view, one), class_="stack"),
        class_="cols wide-left",
    )


def _largest(view: PageView, one: TableSurvey) -> Html:
    rows = (
        (_item_link(view, item), size_with_unit(item.size), f"{item.size / ITEM_BYTES:.1%}")
        for item in one.largest
    )
    columns = [("Item", False), ("Size", True), ("Of 400 KB", True)]
    return panel("Largest items", grid(columns, rows))


def _item_link(view: PageView, item: KnownItem) -> Html:
    key = el("span", view.item_key(item))
    return link(view.item(item), view.chip(item.kind), key, class_="wraps")


def _growing(view: PageView, one: TableSurvey) -> Child:
    """Entities of which a partition gathers more and more, with the most seen together."""
    most: dict[str, tuple[int, str]] = {}
    for (kind, key), number in one.together.items():
        if number > most.get(kind, (1, ""))[0]:
            most[kind] = (number, key)
    if not most:
        return None
    rows = []
    for kind, (number, key) in sorted(most.items(), key=lambda found: -found[1][0]):
        entity = view.system.entity(kind)
        declared = entity.per_partition if entity is not None else None
        said: Child = f"{declared:,} declared" if declared else el("span", "none", class_="muted")
        if declared and number > declared:
            said = state("bad", f"over the {declared:,} declared")
        shown = view.partition_key(one.table, key)
        where = link(view.partition(one.table.name, key), shown, class_="wraps")
        rows.append((view.ent(kind if entity else "", kind), count(number), where, said))
    columns = [("Entity", False), ("Most", True), ("In", False), ("Limit", False)]
    return panel("Collections that grow", grid(columns, rows))
