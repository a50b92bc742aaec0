"""Every rule's page: its wrong example shows that rule and no other, its right one shows none."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.check import RULES, check
from keyfold.review.check.page import page

CODES = sorted(RULES, key=lambda code: RULES[code].order)


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_example_shows_this_rule_only(code: str) -> None:
    report = check(loads(page(code).wrong))
    assert not report.crashes
    assert {finding.code for finding in report.findings} == {code}, report.findings


@pytest.mark.parametrize("code", CODES)
def test_the_right_example_shows_nothing(code: str) -> None:
    report = check(loads(page(code).right))
    assert not report.crashes
    assert report.findings == ()


@pytest.mark.parametrize("code", CODES)
def test_the_python_example_is_a_design_without_this_finding(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(f"example_of_{code}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(page(code).python, f"{code}.py", "exec"), module.__dict__)
    report = check(module.design.schema)
    assert not report.crashes
    assert code not in {finding.code for finding in report.findings if finding.severity == "error"}


@pytest.mark.parametrize("code", CODES)
def test_the_page_says_what_the_rule_is_registered_as(code: str) -> None:
    rule, text = RULES[code], page(code).text
    assert text.startswith(f"# {code} {rule.name}\n\n{rule.title}. Severity: {rule.severity}.\n")


def test_a_rule_is_found_by_its_name_too() -> None:
    assert page("range-bleed").code == page("q1").code == "Q1"
    with pytest.raises(KeyfoldError, match="did you mean 'range-bleed'"):
        page("range-bled")
