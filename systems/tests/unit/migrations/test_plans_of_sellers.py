"""Snapshots and differences of sellers, and its migration by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyfold import cli
from keyfold.design.schema import Schema
from keyfold.migrations import Backend, diff
from keyfold.migrations.diff import lacking
from keyfold.migrations.snapshot import dump, load
from keyfold_engine.clients import connect
from keyfold_systems.sellers import current, design


@pytest.mark.parametrize("schema", [current.design.schema, design.design.schema])
def test_a_snapshot_reads_back_as_what_migrations_compare(schema: Schema) -> None:
    assert diff(load(dump(schema)), schema) == []
    assert dump(load(dump(schema))) == dump(schema)


def test_the_restructuring_of_sellers_in_words() -> None:
    words = [str(change) for change in diff(current.design.schema, design.design.schema)]
    assert "the table SellersShares is new (profileId / targetAccountId, 1 index)" in words
    assert "the table SellersProfiles is removed" in words
    assert "Season moves from SellersSeasons to SellersSeasonsByProfile" in words
    assert "Account no longer has the attribute isAdmin" in words
    assert "email of Account becomes unique" in words


def test_a_live_table_lacks_nothing_of_its_declaration() -> None:
    client = connect(":memory:")
    db = current.design.open(client)
    for table in current.design.schema.tables:
        live = Backend(db.client).live(table.name)
        assert live is not None
        assert lacking(table, live) == []
    client.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["apply", "keyfold_systems.sellers.migration:x"], "has no Migration 'x'"),
        (["apply", "keyfold_systems.sellers.migration:orders", "--to", "hald"], "did you mean"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keyfold.toml").write_text('design = "shopdesign:design"\nbackend = "shop.db"\n')
    assert cli.main(["migrations", *arguments]) == 2
    assert message in capsys.readouterr().err
