"""Every rule's page: its wrong example shows that rule and no other, its right one shows none."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from string import Formatter
from types import ModuleType

import pytest

from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.check import RULES, check
from keyfold.review.check.page import page
from keyfold.review.check.wording import Wording

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


@cache
def functions(module: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def calls(code: str) -> Iterator[ast.Call]:
    """What a rule calls, in its function and those of its module that it uses."""
    looks = RULES[code].looks
    known, waiting, seen = functions(looks.__module__), [looks.__name__], set[str]()
    while waiting:
        name = waiting.pop()
        if name in known and name not in seen:
            seen.add(name)
            nodes = [*ast.walk(known[name])]
            waiting += [node.id for node in nodes if isinstance(node, ast.Name)]
            yield from (node for node in nodes if isinstance(node, ast.Call))


def cases(node: ast.expr) -> set[str | None]:
    """The cases that an argument can be; None if any."""
    if isinstance(node, ast.IfExp):
        return cases(node.body) | cases(node.orelse)
    return {node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None}


def given(code: str, case: str) -> set[str]:
    """The elements that a rule's function gives for a case."""
    names = {"facts", *RULES[code].over.names.split()}
    for call in calls(code):
        if not call.args or {None, case} & cases(call.args[0]):
            names |= {keyword.arg for keyword in call.keywords if keyword.arg}
    return names


def named(text: Wording) -> set[str]:
    templates = (text.says, text.asks, text.fix, text.subject, text.cause, text.topic)
    filled = [*templates, *(text.edit or ())]
    fields = [f for t in filled for _, f, _, _ in Formatter().parse(t) if f]
    fields += [name for at in text.at.split() for name in at.split("|")]
    return {field.partition(".")[0].partition("[")[0] for field in fields}


@pytest.mark.parametrize("code", CODES)
def test_what_a_pages_words_name_is_given_by_its_function(code: str) -> None:
    for case, text in page(code).texts.items():
        assert named(text) <= given(code, case), case
        assert text.says or text.asks


@pytest.mark.parametrize("code", CODES)
def test_the_words_of_a_page_are_not_shown_as_data(code: str) -> None:
    assert page(code).text.startswith(f"# {code} {RULES[code].name}\n\n{RULES[code].title}. ")
    assert "says:" not in page(code).text.partition("##")[0]


def test_a_rule_is_found_by_its_name_too() -> None:
    assert page("range-bleed").code == page("q1").code == "Q1"
    with pytest.raises(KeyfoldError, match="did you mean 'range-bleed'"):
        page("range-bled")
