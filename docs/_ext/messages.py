"""Every message of an error, as the source has it: one page, to be read by a person."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import keyfold
from keyfold import errors

SOURCE = Path(keyfold.__file__).parent
RAISING = {name for name in vars(errors) if name[0].isupper()} | {
    "DeclarationError", "Finding", "problem", "refuse",
}  # fmt: skip
SHORTEST = 12
"""A text of fewer characters is a code or a name."""


def messages_page() -> str:
    """The messages by package and module; what is filled in stands in braces."""
    parts = ["# Messages", ""]
    parts += ["What an error can say, by the module that says it. Braces are filled in.", ""]
    by_package: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path in sorted(SOURCE.rglob("*.py")):
        if found := list(dict.fromkeys(_messages(path))):
            module = path.relative_to(SOURCE)
            by_package[module.parts[0].removesuffix(".py")][str(module)] = found
    for package, modules in by_package.items():
        parts += [f"## {package}", ""]
        for module, found in modules.items():
            parts += [f"`{module}`", "", "```text", *found, "```", ""]
    return "\n".join(parts)


def _messages(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and _name(node.func) in RAISING:
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
