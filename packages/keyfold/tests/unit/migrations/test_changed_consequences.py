"""Whatever a structure does otherwise is a difference. The annotations below close over names, so
they are not postponed."""

from typing import Annotated, Any

import pytest

from keyfold import Copied, Counter, Design, Entity, Id, Index, Key, On, Pointer, Unique
from keyfold.migrations import diff
from keyfold.migrations.snapshot import dump
from keyfold.migrations.snapshot import load as load_snapshot
from keyfold.structures import Cascade


def _changing(what: str) -> Design:
    design = Design("changing")
    table = design.table(
        "Changing", indexes=[Index("GSI1", "gpk", "gsk")], stream="NEW_AND_OLD_IMAGES"
    )
    shown: Any = Annotated[str, Copied("Holder", "name")] if what != "copied field" else str

    class Holder(Entity, table=table):
        h: Id
        name: str = ""
        n: Annotated[
            int,
            Counter(
                "Item",
                where=lambda i: i.state == ("b" if what == "where" else "a"),
                sums="size" if what == "sums" else "",
                via={"h": "other_h"} if what == "via" else {},
            ),
        ] = 0
        key = Key("H#{h}", "H")
        items = Cascade("Item", sync="stream" if what == "cascade sync" else "transaction")

    class Item(Entity, table=table):
        h: Id
        other_h: str = ""
        item: Id
        state: str = ""
        size: int = 0
        lists: set[str] = set()
        others: set[str] = set()
        holder_name: shown = ""
        key = Key("H#{h}", "I#{item}")
        listed = On(
            "GSI1", "ALL", "{item}", when=lambda i: i.state == ("b" if what == "when" else "a")
        )
        one = Unique("state", normalise=str.upper if what == "normalise" else str.lower)

    class ItemIn(
        Pointer[Item],
        table=table,
        each="others" if what == "each" else "lists",
        sync="stream" if what == "pointer sync" else "transaction",
    ):
        one_list: str
        h: Id
        item: Id
        key = Key("L#{one_list}", "I#{h}#{item}")

    return design


CHANGES = ["where", "sums", "via", "when", "normalise", "each", "copied field", "pointer sync"]


@pytest.mark.parametrize("what", [*CHANGES, "cascade sync"])
def test_a_changed_consequence_is_a_change(what: str) -> None:
    before, after = _changing("").schema, _changing(what).schema
    assert diff(before, after)
    assert diff(load_snapshot(dump(before)), after)
    assert diff(load_snapshot(dump(after)), after) == []
