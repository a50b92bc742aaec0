"""One place decides what a table is called."""

from __future__ import annotations

import pytest

from keyfold.design.schema import TableSchema

ROOMS = TableSchema("rooms", name_variable="ROOMS_TABLE_NAME")


def test_a_prefix_stands_before_the_name() -> None:
    assert ROOMS.physical_name("dev-", {}) == "dev-rooms"


def test_the_variable_a_table_names_replaces_name_and_prefix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROOMS_TABLE_NAME", "elsewhere")
    assert ROOMS.physical_name("dev-", {}) == "elsewhere"


def test_an_entry_for_the_table_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOMS_TABLE_NAME", "elsewhere")
    assert ROOMS.physical_name("dev-", {"rooms": "mine"}) == "mine"
