"""The restructuring that can be watched."""

from __future__ import annotations

from pathlib import Path

from keyfold.maintain import verify
from keyfold_systems.sellers import restructure
from keyfold_systems.sellers.design import design


async def test_it_shows_before_and_after_and_loses_no_order(tmp_path: Path) -> None:
    file, said = tmp_path / "sellers.db", list[str]()
    promised = await restructure.run(file, said.append, profiles=1)
    assert said[0] == "Before: 5 tables, 10 indexes."
    assert "After: 7 tables, 10 indexes." in said
    assert "0 are lost" in said[-1]
    assert len(promised) > 5
    with design.open(str(file)) as db:
        assert verify(db).clean
