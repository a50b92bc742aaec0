"""Made items, as `keyfold sample` and assistants store them, are no trouble for consumers."""

from __future__ import annotations

import pytest

from keyfold.rows.item_writer import put
from keyfold.streams import Consumer, letters
from keyfold_demo.systems import find_systems
from keyfold_engine.clock import ManualClock
from keyfold_workbench.adopt.made_items import ItemMaker

SYSTEMS = {system.name: system.design for system in find_systems()}
TODAY = 1_800_000_000.0
"""Some of what is made has expired by then."""


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", SYSTEMS)
def test_processors_take_every_made_item(name: str, seed: int) -> None:
    with SYSTEMS[name].open(":memory:", clock=ManualClock(TODAY)) as db:
        put(db, list(ItemMaker(SYSTEMS[name], seed).make(60, {})), lambda _: None)
        assert Consumer(db).drain().unresolved == []
        assert db.run(letters(db.context)) == []
