"""Examples of public names, from the pages whose code the test suite runs."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parents[1]
LONGEST = 20
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Example:
    """A statement of a page."""

    page: Path
    title: str
    code: str
    names: frozenset[str]
    imports: frozenset[tuple[str, str]]
    """Module and name of what the page imports."""

    @property
    def order(self) -> tuple[int, int, int]:
        """The shortest first, of those that call what they name."""
        lines = len(self.code.splitlines())
        return (not 1 <= lines <= 8, lines, len(self.code))


def example_of(name: str, value: object) -> Example | None:
    """The plainest statement that uses a public name, on a page that imports it."""
    return min(
        (one for one in _all() if name in one.names and _imports(one, name, value)),
        key=lambda one: one.order,
        default=None,
    )


def _imports(example: Example, name: str, value: object) -> bool:
    return any(
        getattr(import_module(module), name, None) is value
        for module, imported in example.imports
        if imported == name and module.partition(".")[0] == "keyfold"
    )


@cache
def _all() -> tuple[Example, ...]:
    pages = [*sorted((DOCS / "guide").glob("*.md")), *sorted(DOCS.glob("*.md"))]
    return tuple(one for page in pages for one in _of(page))


def _of(page: Path) -> Iterator[Example]:
    text = page.read_text("utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    trees = [(block, tree) for block in _BLOCK.findall(text) if (tree := _parsed(block))]
    imports = frozenset(
        (node.module or "", each.name)
        for _, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    )
    for block, tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.stmt) or isinstance(node, ast.Import | ast.ImportFrom):
                continue
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            code = "\n".join(block.splitlines()[first - 1 : node.end_lineno])
            if len(code.splitlines()) <= LONGEST:
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                yield Example(page, title, textwrap.dedent(code), frozenset(names), imports)


def _parsed(block: str) -> ast.Module | None:
    try:
        return ast.parse(block)
    except SyntaxError:
        return None  # it shows a part of something
