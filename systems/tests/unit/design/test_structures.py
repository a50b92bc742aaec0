"""What follows from a write, as the five systems declare it."""

from __future__ import annotations

import importlib

import pytest

SYSTEMS = ["inviter", "search_room", "tamafriends", "gg_core", "sellers"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_structure_of_a_system_has_a_record(name: str) -> None:
    found = importlib.import_module(f"keyfold_systems.{name}.design").design
    schema = found.schema
    assert [each.name for each in schema.follows] == [m.label for m in found.maintainers]
    for each in schema.follows:
        assert each.source in schema.by_entity, each.name
        assert not each.target or each.target in schema.by_entity, each.name


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_structure_has_its_place_in_the_system_that_declares_it(system: str) -> None:
    found = importlib.import_module(f"keyfold_systems.{system}.design").design.schema.follows
    placed = {one.name: one.place.file for one in found if one.place.file}
    assert placed
    assert {name: f for name, f in placed.items() if f"keyfold_systems/{system}/" not in f} == {}
