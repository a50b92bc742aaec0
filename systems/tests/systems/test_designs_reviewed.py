"""The designs that run: no finding is left that nobody has looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

import keyfold_systems
from keyfold.design.file import dumps, loads
from keyfold.design.target import load_schema
from keyfold.review import docs
from keyfold.review.check import check

FOLDER = Path(keyfold_systems.__file__).parent
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/design.py"))


@pytest.mark.parametrize("name", NAMES)
def test_every_warning_is_put_right_or_accepted_with_a_reason(name: str) -> None:
    report = check(load_schema(f"keyfold_systems.{name}.design:design"))
    assert report.crashes == ()
    assert [f for f in report.findings if f.severity != "note"] == []
    assert all(len(silenced.reason) > 20 for silenced in report.silenced)
    assert report.idle == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_design_is_the_same_as_a_design_file(name: str) -> None:
    schema = load_schema(f"keyfold_systems.{name}.design:design")
    assert loads(dumps(schema)) == schema


@pytest.mark.parametrize("name", NAMES)
def test_the_design_documents_itself(name: str, tmp_path: Path) -> None:
    schema = load_schema(f"keyfold_systems.{name}.design:design")
    docs.write(docs.files(schema, tmp_path / "design.html"))
    assert docs.stale(docs.files(schema, tmp_path / "design.html")) == []
