"""Drafts of the five documents, and made items of the five designs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.adopt.test_draft import imported

from keyfold.design.file import load
from keyfold.design.target import load_design
from keyfold.errors import KeyfoldError
from keyfold.maintain import verify
from keyfold.review.draft.python import declaration
from keyfold.rows.item_writer import put
from keyfold.runtime import Design
from keyfold_workbench.adopt.made_items import ItemMaker

DOCUMENTS = Path(__file__).parents[3] / "src" / "keyfold_systems"
SYSTEMS = ("gg_core", "inviter", "search_room", "sellers", "tamafriends")


@pytest.mark.parametrize("name", ["search_room", "sellers"])
def test_documents_without_blocking_faults_become_python(name: str, tmp_path: Path) -> None:
    written = load(DOCUMENTS / name / "as_written.yaml")
    text, _ = declaration(written)
    module = imported(f"drafted_{name}", text, tmp_path)
    assert len(module.design.schema.entities) == len(written.entities)


def test_what_cannot_be_declared_is_refused_with_its_findings() -> None:
    with pytest.raises(KeyfoldError, match=r"(?s)cannot be declared:.*X1 Follow\.GSI1PK"):
        declaration(load(DOCUMENTS / "gg_core" / "as_written.yaml"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_items_of_a_design_in_python_are_taken_by_it_and_consistent(system: str) -> None:
    design = load_design(f"keyfold_systems.{system}.design:design")
    assert isinstance(design, Design)
    with design.open(":memory:") as db:
        items = list(ItemMaker(design, seed=3).make(40))
        assert put(db, items) == len(items) >= 20
        at_once = {one.name for one in design.schema.follows if one.sync == "transaction"}
        assert [str(one) for one in verify(db).drifts if one.structure in at_once] == []
