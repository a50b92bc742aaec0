"""The restructuring that can be watched."""

from __future__ import annotations

from pathlib import Path

from keyfold.maintain import verify
from keyfold.streams import Consumer
from keyfold_systems.sellers import demo, restructure
from keyfold_systems.sellers.design import design


async def test_it_shows_before_and_after_and_loses_no_order(tmp_path: Path) -> None:
    file, said = tmp_path / "sellers.db", list[str]()
    traffic = await restructure.run(file, said.append, demo.records(profiles=1))
    assert said[0] == "Before: 5 tables, 10 global and 0 local indexes."
    assert "After: 7 tables, 6 global and 3 local indexes." in said
    assert "0 are lost" in said[-1]
    assert len(traffic.promised) > 5
    with design.open(str(file)) as db:
        # No consumer has named the shares and counted the orders yet; all else is right.
        assert {one.kind for one in verify(db).drifts} == {"copied", "counter"}
        Consumer(db).drain()
        assert verify(db).clean
