"""Every finding shows an example that was found: keys that the design renders, steps, sums."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from keyfold.design.file import loads
from keyfold.design.schema import KeyTemplates
from keyfold.design.template import Literal, Template
from keyfold.review.check import RULES, Finding, check
from keyfold.review.check.answer import returned_key
from keyfold.review.check.evidence import steps_example, sum_example
from keyfold.review.check.key_sets import Appearance, templates_of
from keyfold.review.check.page import page
from keyfold.review.check.reach import Reach
from keyfold.review.check.sample import text_of
from keyfold.review.keyspace import Space, meet

HERE = Path(__file__).parent
DESIGNS = {path.stem: path for path in sorted((HERE / "designs").glob("*.yaml"))}
MISTAKES = yaml.safe_load((HERE / "seeded_mistakes.yaml").read_text(encoding="utf-8"))

STATED = {
    "W10": "the name of what is missing",
    "G5": "what the table is declared with",
    "M3": "the definition that nothing uses",
    "M7": "a step that keeps no checkpoint",
    **dict.fromkeys(("D1", "D2", "D3", "D4", "D5"), "two statements of the document"),
    **dict.fromkeys(("L1", "L3", "L4"), "what the live table has"),
}
"""Rules whose message is the whole fact: an example would only say it again."""


def shown(finding: Finding) -> str:
    assert finding.evidence is not None, finding.message
    return finding.evidence.sentence


@pytest.mark.parametrize("code", [code for code in RULES if code not in STATED])
def test_a_rules_own_example_is_explained_by_keys_or_numbers(code: str) -> None:
    for finding in check(loads(page(code).wrong)).findings:
        assert re.search(r"`[^`]+`|\d|sends [A-Z]+", shown(finding)), finding


@pytest.mark.parametrize("row", MISTAKES, ids=lambda row: f"{row['rule']} {row['design']}")
def test_a_mistake_in_a_public_design_is_explained_by_keys_or_numbers(row: dict[str, str]) -> None:
    text = DESIGNS[row["design"]].read_text(encoding="utf-8")
    report = check(loads(text.replace(row["old"], row["new"], 1)))
    found = [one for one in report.findings if one.code == row["rule"]]
    assert found
    for finding in found if row["rule"] not in STATED else ():
        assert re.search(r"`[^`]+`|\d|sends [A-Z]+", shown(finding)), finding
        assert "{" not in shown(finding), finding


@pytest.mark.parametrize("name", DESIGNS)
def test_the_keys_of_examples_are_keys_that_the_design_renders(name: str) -> None:
    facts = Reach(loads(DESIGNS[name].read_text(encoding="utf-8")))
    for entity, key, _ in facts.all_keys():
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


def only(code: str) -> Finding:
    [finding] = check(loads(page(code).wrong)).findings
    return finding


SENTENCES = {
    "K4": "SK = `BASKET` is the key of: Order with customerId = 'customer1', orderId = 'BASKET'; ",
    "K7": "one Score is put at `ROOM#room1` / `SCORE#2026-03-01T09:00:00Z`; 2. another with",
    "K8": "`MSG#2026-03-01T08:30:00Z#message1` half past eight; `MSG#2026-03-01T09:00:00+01:00#",
    "K13": "`EMAIL#Ann` as stored; `EMAIL#ann` as asked",
    "Q1": "one page holds: `ACTIVITY#activity1` Activity; `LISTING#listing1` Listing, not",
    "Q14": "`CUSTOMER#customer1` / `ORDER#order2` status = done: paid for and dropped",
    "X5": "1. A asks the index for email = email1: nothing; 2. B asks the same: nothing; 3. A puts "
    "Account `ACCOUNT#account1` / `ACCOUNT`; 4. B puts Account `ACCOUNT#account2` / `ACCOUNT`",
    "X9": "deleted: `ROOM#room1` / `STATUS#new#listing1`; written: `ROOM#room1` / `STATUS#seen#",
    "X16": "main 9,000,000 × 2,000 = 18,000,000,000; ByLevel 9,000,000 × 2,000 = 18,000,000,000",
    "W5": "Season `SEASONS#profile1` / `SEASON#season1`",
    "W9": "becomes 12: one request has counted twice: 12 where 11 is right",
    "W13": "`held` never leaves",
    "W14": "members 100,000 × 40 = 4,000,000: 4,000,000 bytes; an item takes 409,600",
    "W17": "update Group 1 × 1 = 1; update Member 500 × 1 = 500: 501 items; one transaction takes",
    "S2": "changes a second 4,000 × 1 = 4,000: 4,000 write units a second; one key takes 1,000",
    "G3": "us-east-1: version of Order `ORDER#order1` / `ORDER` goes from 1 to 2",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_an_explanation_names_the_keys_and_sums_it_found(code: str) -> None:
    assert SENTENCES[code] in shown(only(code))


def test_amounts_are_added_up_against_a_limit() -> None:
    made = sum_example("one call", [("a", 2, 3), ("b", 1, 0.5)], "one takes 6", "units")
    assert made.sentence == "one call: a 2 × 3 = 6; b 1 × 0.5 = 0.5: 6.5 units; one takes 6"


def test_cells_stand_in_columns() -> None:
    assert [*steps_example("a", "bc").lines()] == ["1.  a", "2.  bc"]
