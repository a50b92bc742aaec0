"""One place decides what a table is called."""

from __future__ import annotations

import pytest

from keyfold.design.schema import TableSchema
from keyfold.design.table_name import physical_name

ROOMS = TableSchema("rooms", name_variable="ROOMS_TABLE_NAME")


def test_a_prefix_stands_before_the_name() -> None:
    assert physical_name(ROOMS, "dev-", {}) == "dev-rooms"


def test_the_variable_a_table_names_replaces_name_and_prefix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROOMS_TABLE_NAME", "elsewhere")
    assert physical_name(ROOMS, "dev-", {}) == "elsewhere"


def test_an_entry_for_the_table_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOMS_TABLE_NAME", "elsewhere")
    assert physical_name(ROOMS, "dev-", {"rooms": "mine"}) == "mine"
