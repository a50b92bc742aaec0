"""The parts: one way of imports in their tests too, and a picture that is current."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator

import pytest
from tests.parts import PARTS, ROOT

ORDER = ["keyfold_engine", "keyfold", "keyfold_web", "keyfold_workbench", "keyfold_systems"]
ABOVE = {name: {*ORDER[place + 1 :], "keyfold_demo"} for place, name in enumerate(ORDER[:-1])}


def _packages(text: str) -> set[str]:
    """What a Python file names: in imports, and in texts that are modules, programs or paths."""
    return {name for node in ast.walk(ast.parse(text)) for name in _named(node)}


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield (node.module or "").partition(".")[0]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from re.findall(r"keyfold_\w+", node.value)
        # The name of the product is also a word of messages.
        if re.search(r"(?:from|import) keyfold\b|^keyfold[.:]", node.value):
            yield "keyfold"


@pytest.mark.parametrize(
    "text",
    [
        "import keyfold_web.app",
        "def late():\n    from keyfold_web import Service",
        "load_service('keyfold_web.problems:Refused')",
        "PROGRAM = '''\nimport sys\nfrom keyfold_web import Service\n'''",
        "Path(__file__).parents[5] / 'packages/web/src/keyfold_web/app.py'",
    ],
)
def test_a_file_names_a_package_in_code_and_in_texts(text: str) -> None:
    assert "keyfold_web" in _packages(text)


@pytest.mark.parametrize("part", ABOVE)
def test_the_tests_of_a_part_use_no_part_above_it(part: str) -> None:
    files = sorted((PARTS[part] / "tests").rglob("*.py"))
    assert files
    up = {
        str(path.relative_to(ROOT)): sorted(found)
        for path in files
        if (found := ABOVE[part] & _packages(path.read_text("utf-8")))
    }
    assert up == {}


def test_the_picture_of_the_parts_is_that_of_the_contracts() -> None:
    made = runpy.run_path(str(ROOT / "docs/_ext/parts.py"))
    assert made["PICTURE"].read_text("utf-8") == made["picture"]()


def test_the_page_of_sizes_is_about_current() -> None:
    made = runpy.run_path(str(ROOT / "docs/_ext/sizes.py"))

    def lines(page: str) -> dict[str, int]:
        found = re.findall(r"^\| \*\*(.+?)\*\* \| ([\d,]+) \|", page, re.MULTILINE)
        return {name: int(number.replace(",", "")) for name, number in found}

    written, now = lines(made["TARGET"].read_text("utf-8")), lines(made["page"]())
    assert written.keys() == now.keys() >= {"keyfold", "systems"}
    again = "write it again: python docs/_ext/sizes.py"
    assert {name: now[name] for name in now if abs(written[name] / now[name] - 1) > 0.03} == {}, (
        again
    )
