"""The five documents as design files: they fit the schema, and each mistake has its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.design.test_json_schema import fits
from tests.unit.design.test_wrong_design_files import (
    is_read_or_refused,
    with_a_line_missing_or_twice,
    with_a_mistake,
)

FILES = sorted((Path(__file__).parents[3] / "src" / "keyfold_systems").glob("*/as_written.yaml"))
TEXTS = [path.read_text(encoding="utf-8") for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda one: one.parent.name)
def test_a_document_fits_the_schema(path: Path) -> None:
    fits(path.read_text("utf-8"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_mistake_anywhere_is_refused_with_its_place(data: st.DataObject) -> None:
    is_read_or_refused(with_a_mistake(data, TEXTS))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_lines_that_are_missing_or_twice_are_refused_with_their_place(data: st.DataObject) -> None:
    is_read_or_refused(with_a_line_missing_or_twice(data, TEXTS))
