"""The modules of each package, with their docstrings and public classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import keyfold

SOURCE = Path(keyfold.__file__).parent


def source_page() -> str:
    """Every module with its first sentence and the public classes that it declares."""
    parts = [
        "# The source",
        "",
        "The modules of each package. A class name is used only once in the whole tree;",
        "[](../concepts.md) defines the terms.",
        "",
    ]
    for folder in sorted({path.parent for path in SOURCE.rglob("*.py")}):
        name = ".".join(["keyfold", *folder.relative_to(SOURCE).parts])
        parts += [f"## `{name}`", "", _sentence(folder / "__init__.py"), ""]
        rows = [row for path in sorted(folder.glob("*.py")) for row in _row(path)]
        if rows:
            parts += ["| module | holds | classes |", "|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(path: Path) -> Iterator[str]:
    if path.stem in ("__init__", "__main__"):
        return
    body = ast.parse(path.read_text("utf-8")).body
    named = [n.name for n in body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")]
    yield f"| `{path.stem}` | {_sentence(path)} | {', '.join(f'`{one}`' for one in named)} |"


def _sentence(path: Path) -> str:
    if not path.exists():
        return ""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")
