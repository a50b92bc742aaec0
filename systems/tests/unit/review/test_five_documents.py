"""The five documents: what is wrong with each of them is found, and nothing else is said."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from keyfold.design.file import dumps, load, loads
from keyfold.design.schema import Schema
from keyfold.review.check import RULES, Review, check

ROOT = Path(__file__).parents[4]

SYSTEMS = ("inviter", "search_room", "tamafriends", "gg_core", "sellers")


def _generator() -> ModuleType:
    path = ROOT / "docs" / "_ext" / "findings.py"
    spec = importlib.util.spec_from_file_location("findings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = _generator()


def document(name: str) -> Schema:
    return load(ROOT / "systems" / "src" / "keyfold_systems" / name / "as_written.yaml")


def report(name: str) -> Review:
    return check(document(name))


def message(name: str, code: str, subject: str) -> str:
    return next(f.message for f in report(name).findings if (f.code, f.subject) == (code, subject))


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_finding_was_reviewed_and_none_is_wrong(name: str) -> None:
    """After a change: look at what is new, and give it its word in findings_verdicts.yaml."""
    reviewed = report(name)
    assert reviewed.crashes == ()
    found = {finding.fingerprint: finding for finding in reviewed.findings}
    assert sorted(found) == sorted(PAGE.VERDICTS[name])
    words = {PAGE.verdict(name, finding)[0] for finding in found.values()}
    assert words <= {"true", "doubtful"}


def test_every_rule_without_a_finding_has_a_reason() -> None:
    fired = {finding.code for name in SYSTEMS for finding in report(name).findings}
    explained = [code for row in PAGE.SILENT for code in row["codes"]]
    assert sorted(explained) == sorted(set(RULES) - fired)


def test_almost_everything_that_an_expert_says_is_found() -> None:
    counted = [PAGE.recall(name, list(report(name).findings)) for name in SYSTEMS]
    said, listed = (sum(column) for column in zip(*counted, strict=True))
    assert listed >= 150
    assert said / listed >= 0.94
    for name in SYSTEMS:
        fingerprints = {finding.fingerprint for finding in report(name).findings}
        named = {row["found"] for row in PAGE.READ[name]} - {None}
        assert named <= fingerprints


def test_a_second_readers_list_gives_the_figure_on_the_page() -> None:
    said = PAGE.said_of(PAGE.SECOND, list(report("gg_core").findings))
    assert {row["found"] for row in PAGE.SECOND} - {None} <= {
        finding.fingerprint for finding in report("gg_core").findings
    }
    assert f"listed {len(PAGE.SECOND)} problems" in PAGE.SECOND_READER
    assert f"and {said} after the changes" in PAGE.SECOND_READER


def test_facts_that_are_absent_are_questions_and_never_errors() -> None:
    asked = {(name, f.code) for name in SYSTEMS for f in report(name).questions}
    assert {("tamafriends", "K2"), ("inviter", "W2"), ("gg_core", "S2")} <= asked


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_finding_has_its_line_and_a_remedy(name: str) -> None:
    for finding in report(name).findings:
        assert finding.place.line > 0, finding
        assert finding.suggestion.endswith("."), finding


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_design_file_is_what_it_says_when_written_again(name: str) -> None:
    assert loads(dumps(document(name))) == document(name)


def test_a_one_sided_range_names_everything_it_runs_into() -> None:
    told = message("search_room", "Q1", "Get activities after timestamp")
    assert told == (
        "`SK > ACTIVITY#<timestamp>` also returns Room (`ROOM`), Member (`MEMBER#…`), Listing "
        "(`LISTING#…`), UserCriteria (`CRITERIA#…#…`), CombinedCriteria (`CRITERIA_COMBINED#…`), "
        "Compatibility (`COMPATIBILITY#…`)"
    )


def test_ten_indexes_stay_ten() -> None:
    told = message("sellers", "D1", "indexes")
    assert told.startswith("the document says 6, but the design has 10 (Accounts 1, Prof")


def test_chat_history_meets_the_room_itself() -> None:
    assert "Room (`ROOM#…`)" in message("gg_core", "Q2", "Read history")


LOOKALIKES = {
    "prefixes that share letters": ("search_room", "K5"),
    "a bare key beside its prefix": ("search_room", "K4"),
    "members under the room's own id": ("gg_core", "K4"),
    "an index sparse by an optional field": ("search_room", "X4"),
    "two indexes that share an attribute": ("inviter", "X1"),
    "an activity that lies in one partition only": ("gg_core", "Q9"),
    "times followed by an id": ("gg_core", "K7"),
}


@pytest.mark.parametrize(("name", "code"), LOOKALIKES.values(), ids=LOOKALIKES)
def test_lookalikes_stay_silent(name: str, code: str) -> None:
    assert not [f for f in report(name).findings if f.code == code]


def test_no_rule_knows_a_system() -> None:
    names = ("inviter", "hangout", "search room", "tama", "gg_core", "seller")
    rules = sorted((ROOT / "packages/keyfold/src/keyfold/review/check").glob("*.py"))
    assert rules
    for path in rules:
        text = path.read_text(encoding="utf-8").casefold()
        assert not [name for name in names if name in text], path.name


def test_the_documentation_lists_these_findings() -> None:
    """Write it again with: python docs/_ext/findings.py"""
    assert (ROOT / "docs" / "findings.md").read_text(encoding="utf-8") == PAGE.findings()
