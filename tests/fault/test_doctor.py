"""`keyfold doctor` finds what was damaged, names what is lost, and saves the rest."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.fault import test_flipped_bytes as flips
from tests.fault.replay import replayed

from keyfold.cli import main
from keyfold_engine.clock import ManualClock
from keyfold_engine.doctor.examination import examine, settled
from keyfold_engine.doctor.survey import survey
from keyfold_engine.engine import Engine

ROUNDS = int(os.environ.get("DOCTOR_ROUNDS", "15"))
PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "data.db"
    flips._fill(path)
    return path.read_bytes()


def _items(path: Path, table: str, **more: Any) -> dict[tuple[str, str], Any]:
    with Engine.open(path, clock=ManualClock()) as engine:
        found = engine.call("Scan", {"TableName": table, **more})["Items"]
    return {(item["pk"]["S"], item["sk"]["N"]): item for item in found}


def test_a_whole_file_is_whole(
    whole: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.db"
    path.write_bytes(whole)
    assert main(["doctor", str(path)]) == 0
    assert capsys.readouterr().out == f"{path} is intact\n"
    assert [each.name for each in tmp_path.iterdir()] == ["data.db"]


def test_what_is_saved_of_a_whole_file_is_all_of_it(whole: bytes, tmp_path: Path) -> None:
    path, saved = tmp_path / "data.db", tmp_path / "saved.db"
    path.write_bytes(whole)
    assert main(["doctor", str(path), "--save", str(saved)]) == 0
    assert main(["doctor", str(saved)]) == 0
    with (
        Engine.open(path, clock=ManualClock()) as old,
        Engine.open(saved, clock=ManualClock()) as new,
    ):
        for table in flips.TABLES:
            assert replayed(new, table) == replayed(old, table)
        for (_, right), (_, found) in zip(flips._reads(old), flips._reads(new), strict=True):
            assert found() == right()
        new.call("PutItem", {"TableName": "Other", "Item": {"pk": {"S": "n"}, "sk": {"N": "1"}}})


@pytest.mark.parametrize("seed", [n * 7 for n in range(ROUNDS)])
def test_all_but_what_was_on_the_damaged_page_is_saved(
    whole: bytes, tmp_path: Path, seed: int
) -> None:
    path, saved = tmp_path / "data.db", tmp_path / "saved.db"
    path.write_bytes(whole)
    truth = {table: _items(path, table) for table in flips.TABLES}
    chance = random.Random(seed)
    content = bytearray(whole)
    page = seed % (len(content) // PAGE)
    content[page * PAGE + chance.randrange(PAGE)] ^= chance.randrange(1, 256)
    path.write_bytes(content)
    assert main(["doctor", str(path), "--save", str(saved)]) == 1
    with settled(path) as copy:
        told = "\n".join(examine(copy, survey(copy.path)))
    assert f"page {page + 1} is damaged" in told
    assert main(["doctor", str(saved)]) == 0
    for table, right in truth.items():
        if "definition is lost" in told and f"table {table}" not in told:
            continue
        found = _items(saved, table)
        lost = {key for key in right if key not in found}
        assert all(right[key] == item for key, item in found.items())
        # One page has a few short items, or a part of a long one.
        assert len(lost) <= 30
        if lost:
            assert f"table {table}: {len(lost)} items are lost" in told
        assert _items(saved, table, IndexName="by_group") == found


def test_a_wrong_entry_and_a_wrong_size_are_found(whole: bytes, tmp_path: Path) -> None:
    import apsw

    from keyfold_engine.engine.storage import checksums

    path = tmp_path / "data.db"
    path.write_bytes(whole)
    connection = apsw.Connection(str(path), vfs=checksums.layer())
    connection.execute("UPDATE items_1 SET size = size + 1 WHERE row = 5")
    connection.execute("DELETE FROM index_1_1 WHERE row = 7")
    connection.execute("INSERT INTO records (stream, shard, at, body) VALUES (99, 0, 0, x'7b')")
    connection.close()
    with settled(path) as copy:
        told = "\n".join(examine(copy, survey(copy.path)))
    assert "are noted" in told
    assert "is missing or wrong" in told
    assert "1 records of stream 99, which is not there" in told
    assert "cannot be read" in told
