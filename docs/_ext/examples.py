"""Examples of public names, from the pages whose code the test suite runs."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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

    @property
    def order(self) -> tuple[int, int, int]:
        """The shortest first, of those that call what they name."""
        lines = len(self.code.splitlines())
        return (not 1 <= lines <= 8, lines, len(self.code))


def example_of(name: str) -> Example | None:
    """The plainest statement that uses a name."""
    return min(
        (one for one in _all() if name in one.names), key=lambda one: one.order, default=None
    )


@cache
def _all() -> tuple[Example, ...]:
    pages = [*sorted((DOCS / "guide").glob("*.md")), *sorted(DOCS.glob("*.md"))]
    return tuple(one for page in pages for one in _of(page))


def _of(page: Path) -> Iterator[Example]:
    text = page.read_text("utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    for block in _BLOCK.findall(text):
        try:
            tree = ast.parse(block)
        except SyntaxError:
            continue  # it shows a part of something
        for node in ast.walk(tree):
            if not isinstance(node, ast.stmt) or isinstance(node, ast.Import | ast.ImportFrom):
                continue
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            code = "\n".join(block.splitlines()[first - 1 : node.end_lineno])
            if len(code.splitlines()) <= LONGEST:
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                yield Example(page, title, textwrap.dedent(code), frozenset(names))
