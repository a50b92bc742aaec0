"""Designs by others: no false alarm about them, and every mistake put into them is found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from keyfold.design.file import dumps, loads
from keyfold.review.check import Finding, check

HERE = Path(__file__).parent
DESIGNS = {path.stem: path for path in sorted((HERE / "designs").glob("*.yaml"))}

TRUE = {
    ("aws_chat", "K7"): "two comments of one user in one millisecond are one item",
    ("aws_complaints", "Q13"): "the document says itself that it scans",
    ("aws_complaints", "Q14"): "the document says itself that it filters",
    ("aws_forum", "K7"): "two replies to a thread in one millisecond are one item",
    ("aws_photos", "K7"): "two photos of one user in one second are one item",
    ("hotel_booking", "Q13"): "the document says itself that it scans",
    ("investment_funds", "K7"): "two versions of a document on one day are one item",
}
"""Warnings that an expert would give, too."""

DOUBTFUL = {
    ("aws_device_log", "K7"): "a device says its state once in five minutes",
    ("exam_centre", "X6"): "whoever starts an attempt has its key",
    ("slackline_rankings", "X8"): "a world's athletes fit into one partition that few write to",
}
"""Warnings that are beside the point; no design may have more than one."""


def findings(text: str) -> list[Finding]:
    report = check(loads(text))
    assert report.crashes == ()
    assert report.idle == ()
    return list(report.findings)


def test_there_are_enough_of_them_and_each_names_its_source() -> None:
    assert len(DESIGNS) >= 20
    for path in DESIGNS.values():
        assert path.read_text(encoding="utf-8").startswith("# Source: "), path.name


@pytest.mark.parametrize("name", DESIGNS)
def test_a_public_design_has_no_false_error_and_at_most_one_doubtful_warning(name: str) -> None:
    found = findings(DESIGNS[name].read_text(encoding="utf-8"))
    assert [f for f in found if f.severity == "error"] == []
    warned = {(name, f.code) for f in found if f.severity == "warning"}
    assert warned - set(TRUE) - set(DOUBTFUL) == set()
    assert len(warned & set(DOUBTFUL)) <= 1


@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_accepted_in_a_public_design_is_said_in_it(name: str) -> None:
    report = check(loads(DESIGNS[name].read_text(encoding="utf-8")))
    assert all(one.reason for one in report.silenced)
    assert len(report.silenced) <= 3


@pytest.mark.parametrize("name", DESIGNS)
def test_a_public_design_survives_being_written_again(name: str) -> None:
    schema = loads(DESIGNS[name].read_text(encoding="utf-8"))
    assert loads(dumps(schema)) == schema


@dataclass(frozen=True)
class Mistake:
    """A text put in the place of another, and the rule that must notice."""

    design: str
    code: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.code} {self.design}: {self.new.strip()[:50]}"


MISTAKES = [
    Mistake(row["design"], row["rule"], row["old"], row["new"])
    for row in yaml.safe_load((HERE / "seeded_mistakes.yaml").read_text(encoding="utf-8"))
]


def test_there_are_enough_mistakes() -> None:
    assert len(MISTAKES) >= 60
    assert len({mistake.code for mistake in MISTAKES}) >= 40


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_put_into_a_public_design_is_found(mistake: Mistake) -> None:
    text = DESIGNS[mistake.design].read_text(encoding="utf-8")
    assert mistake.old in text, mistake
    broken = text.replace(mistake.old, mistake.new, 1)
    before = {(f.code, f.severity, f.fingerprint) for f in check(loads(text)).findings}
    after = check(loads(broken))
    assert after.crashes == ()
    new = [f for f in after.findings if (f.code, f.severity, f.fingerprint) not in before]
    assert [f for f in new if f.code == mistake.code and f.severity != "question"], new
