"""The pages of the five systems at 10^8 users, as `make scale` writes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[4] / "docs"
SYSTEMS = ("gg_core", "inviter", "search_room", "sellers", "tamafriends")


@pytest.fixture(scope="module")
def scale() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scale", DOCS / "_ext" / "scale.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_page_says_what_breaks_first(name: str, scale: ModuleType) -> None:
    page = (DOCS / "scale" / f"{name}.md").read_text()
    assert name in scale.names()
    assert "at 10^8 users" in page
    assert "First throttle: day" in page
    for heading in ("Copies and indexes", "Cost", "Partitions"):
        assert f"## {heading}" in page


def test_a_new_page_begins_as_the_written_one(scale: ModuleType) -> None:
    made = scale.page("search_room", days=30.0)
    written = (DOCS / "scale" / "search_room.md").read_text()
    assert made.summary in written
