"""Workload files for editors: every file of ours fits, and the schema knows the reader's words."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from keyfold.design.target import load_schema
from keyfold.errors import KeyfoldError
from keyfold_workbench.cost import Workload, load, loads
from keyfold_workbench.cost.json_schema import workload_file_schema
from keyfold_workbench.cost.workload import (
    ArrivalLoad,
    BurstLoad,
    ConsumerLoad,
    EntityLoad,
    FeedLoad,
    PatternLoad,
    StreamLoad,
    WriteLoad,
)

ROOT = Path(__file__).parents[4]
FILES = sorted((ROOT / "systems/src/keyfold_systems").glob("*/workload.yaml"))
ANY = workload_file_schema()
TARGETS = {"sellers": "current"}
READ = {"name", "effects", "atomic", "expired"}
"""What the reader finds in a name, not in a word of its own."""


def _words(*path: str) -> set[str]:
    at: Any = ANY
    for step in path:
        at = at["properties"][step]
        at = at.get("additionalProperties") or at
    return set(at["properties"])


def _fields(kind: type[Any]) -> set[str]:
    return {one.name for one in dataclasses.fields(kind)} - READ


@pytest.mark.parametrize("path", FILES, ids=lambda one: one.parent.name)
def test_a_workload_file_fits_that_of_its_design_and_of_any(path: Path) -> None:
    module = TARGETS.get(path.parent.name, "design")
    design = load_schema(f"keyfold_systems.{path.parent.name}.{module}:design")
    load(path, design)
    # PyYAML takes the word `on` for true, as YAML 1.1 did; editors and the reader do not.
    data = yaml.safe_load(path.read_text().replace(" on:", ' "on":'))
    for schema in (ANY, workload_file_schema(design)):
        found = jsonschema.Draft202012Validator(schema).iter_errors(data)
        assert [one.message for one in found] == []


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("entities",), EntityLoad),
        (("patterns",), PatternLoad),
        (("writes",), WriteLoad),
        (("consumers",), ConsumerLoad),
        (("feeds",), FeedLoad),
        (("stream",), StreamLoad),
        (("arrival",), ArrivalLoad),
        (("arrival", "bursts"), BurstLoad),
    ],
)
def test_it_has_the_words_of_the_reader(path: tuple[str, ...], kind: type[Any]) -> None:
    assert _words(*path) == _fields(kind)


def test_the_whole_file_has_the_words_of_the_reader() -> None:
    assert _words() == _fields(Workload) | {"$schema", "design"}


@pytest.mark.parametrize(
    "text",
    [
        "patern: {}",
        "entities: {User: {itms: 1}}",
        "entities: {Nobody: {items: 1}}",
        "patterns: {user_by_id: {page: -1}}",
        "arrival: {peak_hour: 24}",
        "region: mars-1",
    ],
)
def test_what_the_reader_refuses_is_marked(text: str) -> None:
    design = load_schema("keyfold_systems.inviter.design:design")
    with pytest.raises(KeyfoldError, match=r"workload\.yaml:1"):
        loads(text, design)
    assert not jsonschema.Draft202012Validator(workload_file_schema(design)).is_valid(
        yaml.safe_load(text)
    )


def test_a_file_may_name_its_schema() -> None:
    design = load_schema("keyfold_systems.inviter.design:design")
    assert loads("$schema: workload.schema.json\nusers: 3", design).users == 3
