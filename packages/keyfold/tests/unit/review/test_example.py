"""The example of a finding: keys that the design renders for what the finding names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from keyfold.design.file import loads
from keyfold.design.schema import KeyTemplates
from keyfold.design.template import Literal, Template
from keyfold.review.check import check
from keyfold.review.check.example import Example, returned_key
from keyfold.review.check.key_sets import Appearance, templates_of
from keyfold.review.check.page import page
from keyfold.review.check.reach import Reach
from keyfold.review.check.sample import text_of
from keyfold.review.keyspace import Space, meet

HERE = Path(__file__).parent
DESIGNS = {path.stem: path for path in sorted((HERE / "designs").glob("*.yaml"))}
MISTAKES = yaml.safe_load((HERE / "seeded_mistakes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", MISTAKES, ids=lambda row: f"{row['rule']} {row['design']}")
def test_a_mistake_in_a_public_design_is_shown_in_keys(row: dict[str, str]) -> None:
    text = DESIGNS[row["design"]].read_text(encoding="utf-8")
    report = check(loads(text.replace(row["old"], row["new"], 1)))
    found = [one for one in report.findings if one.code == row["rule"]]
    assert found
    for finding in found:
        if finding.example is not None:
            assert re.search(r"`[^`]+`|any partition|[A-Z]", finding.example.sentence), finding
            assert "{" not in finding.example.sentence, finding


@pytest.mark.parametrize("name", DESIGNS)
def test_the_keys_of_examples_are_keys_that_the_design_renders(name: str) -> None:
    facts = Reach(loads(DESIGNS[name].read_text(encoding="utf-8")))
    for entity, key, _ in facts.all_keys:
        for template in templates_of(key):
            for n in (1, 2, 3):
                made = Space((text_of(template, entity, n),))
                assert any(meet(made, space) for space in facts.spaces(template, entity))


@pytest.mark.parametrize("name", DESIGNS)
def test_the_keys_of_a_page_are_keys_that_its_condition_lets_in(name: str) -> None:
    facts = Reach(loads(DESIGNS[name].read_text(encoding="utf-8")))
    for pattern in facts.schema.patterns:
        for one in facts.reached(pattern):
            if one.key.sort is not None:
                sort = Template((Literal(returned_key(facts, pattern, one)),))
                fixed = Appearance(one.entity, KeyTemplates(one.key.partition, sort))
                assert facts.meets_condition(pattern, fixed), (pattern.name, sort.text)


def rows(code: str) -> list[tuple[str, str]]:
    [finding] = check(loads(page(code).wrong)).findings
    assert finding.example is not None
    return [*finding.example.rows]


def test_a_pattern_is_shown_with_what_it_asks_for_and_what_else_it_returns() -> None:
    assert rows("Q1") == [
        ("`ROOM#room1` / gt `ACTIVITY#activity1`", "is what Activities after asks for"),
        ("`ACTIVITY#activity1`", "Activity"),
        ("`LISTING#listing1`", "Listing, not asked for"),
    ]


def test_an_entity_is_shown_by_a_key() -> None:
    assert rows("W14") == [("`ROOM#room1` / `ROOM`", "Room in main")]


def test_a_placement_is_shown_by_its_key_in_the_index() -> None:
    assert rows("X9")[0] == ("`ROOM#room1` / `STATUS#new#listing1`", "Listing in ByStatus")


def test_an_operation_is_shown_by_the_items_it_writes() -> None:
    assert [what for _, what in rows("W17")] == ["update", "update"]


def test_cells_stand_in_columns() -> None:
    example = Example((("`A`", "is one"), ("`LONG`", "is another")))
    assert [*example.lines()] == ["`A`     is one", "`LONG`  is another"]
    assert example.sentence == "`A` is one; `LONG` is another"
