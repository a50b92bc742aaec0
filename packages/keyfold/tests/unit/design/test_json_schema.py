"""Design files for editors: every file of ours fits the JSON Schema, a misspelled word does not."""

from __future__ import annotations

from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from keyfold.design.file import dumps, loads
from keyfold.design.json_schema import design_file_schema

FILES = sorted((Path(__file__).parents[1] / "review" / "designs").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(design_file_schema())


def fits(text: str) -> None:
    for form in (text, dumps(loads(text))):
        assert [one.message for one in VALIDATOR.iter_errors(yaml.safe_load(form))] == []


@pytest.mark.parametrize("path", FILES, ids=lambda one: one.stem)
def test_a_design_file_fits(path: Path) -> None:
    fits(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "design: x\nentites: {}",
        "design: x\nentities: {Room: {kye: {PK: A}}}",
        "design: x\npatterns: {P: {query: Room, indx: I}}",
        "design: x\nentities: {Room: {key: {PK: A}, immutable: often}}",
    ],
)
def test_a_word_that_is_not_known_is_marked(text: str) -> None:
    assert not VALIDATOR.is_valid(yaml.safe_load(text))


def test_a_file_may_name_its_schema() -> None:
    assert loads("$schema: design.schema.json\ndesign: x").name == "x"
