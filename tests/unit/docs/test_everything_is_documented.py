"""What exists is documented, and what is documented exists."""

from __future__ import annotations

import argparse
import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.parts import DISTRIBUTED, ROOT, files

import keyfold
from keyfold import cli, errors, settings
from keyfold.design import codes as design_codes
from keyfold.review import check
from keyfold.review.check import RULES
from keyfold.review.check.page import page
from keyfold_web import codes as serve_codes

FENCED = re.compile(r"^ *```\w+[^\n]*\n(.*?)^ *```$", re.M | re.S)
INLINE = re.compile(r"`([^`\n]+)`")
COMMAND = re.compile(r"^(?:\$ )?keyfold ([a-z][a-z-]*)", re.M)
VARIABLE = re.compile(r"\bKEYFOLD_[A-Z_]+\b")
ERROR = re.compile(r"`(?:keyfold\.)?errors\.([A-Z]\w+)`")
RULE_LINK = re.compile(r"rules/([A-Z]\d+)\.(?:md|html)|`keyfold rule ([A-Z]\d+)`")
DECLARATION_CODE = re.compile(r'(?:DeclarationError|refuse|problem)\(\s*"([A-Z]\d+)"')
NAMED_AS_WRONG = {"KEYFOLD_BACKND"}
FOR_THE_TESTS = {
    "KEYFOLD_FULL",
    "KEYFOLD_NO_SKIPS",
    "KEYFOLD_PEER",
    "KEYFOLD_SYSTEMS_ADDRESS",
    "KEYFOLD_SYSTEMS_INDEX_LAG",
}


def written_pages() -> dict[Path, str]:
    """Pages by hand: the generated reference would agree with anything."""
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *files("*.md")]
    return {
        path: path.read_text("utf-8")
        for path in paths
        if "_build" not in path.parts and path.parent.name != "reference"
    }


def named(pattern: re.Pattern[str]) -> set[str]:
    return {name for text in written_pages().values() for name in pattern.findall(text)}


def test_the_readme_is_read_in_one_sitting() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 200
    example = FENCED.findall(text)[0]
    assert len([line for line in example.splitlines() if line.strip()]) <= 25


def shown_commands() -> set[str]:
    """The commands in code, between lines or within one: in prose, `keyfold` is just a name."""
    return {
        name
        for text in written_pages().values()
        for code in (*FENCED.findall(text), *INLINE.findall(text))
        for name in COMMAND.findall(code)
    }


def test_every_command_is_shown_on_a_page() -> None:
    assert set(cli.command_names()) - shown_commands() == set()


def test_pages_show_only_commands_that_exist() -> None:
    assert shown_commands() - set(cli.command_names()) == set()


def arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        yield parser.prog, action
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from arguments(child)


@pytest.mark.parametrize("name", cli.command_names())
def test_every_argument_says_what_it_is_for(name: str) -> None:
    for program, action in arguments(cli.command_parser(name)):
        if not isinstance(action, argparse._SubParsersAction):
            assert action.help, f"{program}: {action.option_strings or action.dest} has no help"


def test_every_setting_is_explained() -> None:
    for setting in settings.SETTINGS:
        assert setting.doc.endswith("."), setting.name
        assert setting.example, setting.name


def test_pages_name_only_variables_that_exist() -> None:
    known = {setting.variable for setting in settings.SETTINGS} | set(settings.SECRETS)
    assert named(VARIABLE) - NAMED_AS_WRONG - FOR_THE_TESTS - known == set()


def test_every_error_says_when_it_is_raised() -> None:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.KeyfoldError):
            on_the_wire = issubclass(kind, errors.OperationError) and "wire_name" in vars(kind)
            assert vars(kind).get("__doc__") or on_the_wire, kind.__name__


def test_pages_name_only_errors_that_exist() -> None:
    assert {name for name in named(ERROR) if not hasattr(errors, name)} == set()


@pytest.mark.parametrize("code", sorted(RULES))
def test_every_rule_has_a_page_under_its_code(code: str) -> None:
    assert re.match(rf"# {code}\b", page(code).text)


def test_every_page_of_a_rule_has_its_rule() -> None:
    folder = Path(check.__path__[0]) / "pages"
    assert {path.stem for path in folder.glob("*.md")} == set(RULES)


def test_pages_name_only_rules_that_exist() -> None:
    assert {code for found in named(RULE_LINK) for code in found if code} - set(RULES) == set()


def test_every_code_of_a_declaration_error_is_explained() -> None:
    """By the page of a rule, or in a list of codes; and no list explains what is never raised."""
    sources = [path.read_text() for path in files("*.py", DISTRIBUTED)]
    raised = {code for text in sources for code in DECLARATION_CODE.findall(text)}
    titles = {**design_codes.TITLES, **serve_codes.TITLES}
    assert raised - set(RULES) - set(titles) == set()
    assert set(serve_codes.TITLES) - raised == set()


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The generator of the reference."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    return importlib.import_module("reference")


def test_the_committed_pages_are_as_the_code_is(reference: ModuleType) -> None:
    stale = [
        name
        for name, text in reference.committed_pages().items()
        if (ROOT / "docs" / name).read_text("utf-8") != text
    ]
    assert stale == [], "make docs writes them again"


def test_every_name_of_keyfold_has_a_topic() -> None:
    topics = tomllib.loads((ROOT / "docs" / "_ext" / "topics.toml").read_text("utf-8"))
    listed = [name for names in topics.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(keyfold.__all__) - set(listed) == set()


def test_every_public_name_has_an_example_that_runs(reference: ModuleType) -> None:
    without = [
        f"{module.__name__}.{name}"
        for module in reference.api_modules()
        for name in module.__all__
        if not reference.example_of(name, getattr(module, name))
    ]
    assert without == []


def test_every_public_name_has_a_sentence_and_no_memory_address(reference: ModuleType) -> None:
    page = reference.api_page()
    assert " at 0x" not in page
    entries = re.split(r"^### `(\w+)`$", page, flags=re.MULTILINE)[1:]
    silent = [
        name
        for name, text in zip(entries[::2], entries[1::2], strict=True)
        if not re.search(
            rf"^(?!{name}\()[A-Z`].*[a-z]", re.sub(r"(?s)```.*?```|^From .*|^## .*", "", text), re.M
        )
    ]
    assert silent == []


def test_a_constant_has_its_own_sentence(reference: ModuleType) -> None:
    """`clear` is also the name of a function elsewhere."""
    assert reference.constant_doc("clear", keyfold.clear) == (
        "Removes the value of an optional field."
    )


def test_the_changelog_says_everything_once() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    entries = [line for line in lines if line.startswith("- ")]
    assert entries
    assert [line for line in set(entries) if entries.count(line) > 1] == []
