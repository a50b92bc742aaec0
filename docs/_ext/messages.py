"""Every message of an error, as the source has it: one page, to be read by a person."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import keyfold
from keyfold import errors

SOURCE = Path(keyfold.__file__).parent
FUNCTIONS = {"Finding", "problem", "refuse"}
SHORTEST = 12
"""A text of fewer characters is a code or a name."""


def messages_page() -> str:
    """The messages by package and module; what is filled in stands in braces."""
    parts = ["# Messages", ""]
    parts += ["All error messages, by module. Values in braces are filled in.", ""]
    raising = FUNCTIONS | _error_classes()
    by_package: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path in sorted(SOURCE.rglob("*.py")):
        if found := list(dict.fromkeys(_messages(path, raising))):
            module = path.relative_to(SOURCE)
            by_package[module.parts[0].removesuffix(".py")][str(module)] = found
    for package, modules in by_package.items():
        parts += [f"## {package}", ""]
        for module, found in modules.items():
            parts += [f"`{module}`", "", "```text", *found, "```", ""]
    return "\n".join(parts)


def _error_classes() -> set[str]:
    """The errors of keyfold, and the classes that modules derive from them."""
    known = {name for name in vars(errors) if name[0].isupper()}
    classes = [
        (node.name, {_name(base) for base in node.bases})
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    while derived := {name for name, bases in classes if bases & known} - known:
        known |= derived
    return known


def _messages(path: Path, raising: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and _name(node.func) in raising:
            given = [*node.args, *(one.value for one in node.keywords)]
            texts = [" ".join(text.split()) for one in given if (text := _text(one))]
            if said := [text for text in texts if len(text) >= SHORTEST]:
                yield " ".join(said)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(one) if isinstance(one, ast.Constant) else f"{{{ast.unparse(one.value)}}}"
            for one in node.values
            if isinstance(one, ast.Constant | ast.FormattedValue)
        )
    return ""
