"""Every message of an error, as the source has it: one page, for a reviewer."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import keyfold
from keyfold import errors

SOURCE = Path(keyfold.__file__).parent
SHORTEST = 12
"""A text of fewer characters is a code or a name."""


def messages_page() -> str:
    """The messages by package and module; what is filled in stands in braces."""
    parts = ["# Messages", ""]
    parts += ["All messages of errors, by module. Values in braces are filled in.", ""]
    parts += ["What findings say is on the pages of their rules.", ""]
    parts += ["A bar separates alternatives.", ""]
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    classes = _error_classes(trees.values())
    by_package: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path, tree in trees.items():
        if found := list(dict.fromkeys(_messages(tree, _with_helpers(tree, classes)))):
            module = path.relative_to(SOURCE)
            by_package[module.parts[0].removesuffix(".py")][str(module)] = found
    for package, modules in by_package.items():
        parts += [f"## {package}", ""]
        for module, found in modules.items():
            parts += [f"`{module}`", "", "```text", *found, "```", ""]
    return "\n".join(parts)


def _error_classes(trees: Iterable[ast.Module]) -> set[str]:
    """The errors of keyfold, and the classes that modules derive from them."""
    known = {name for name in vars(errors) if name[0].isupper()}
    classes = [
        (node.name, {_name(base) for base in node.bases})
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    while derived := {name for name, bases in classes if bases & known} - known:
        known |= derived
    return known


def _with_helpers(tree: ast.Module, classes: set[str]) -> set[str]:
    """The classes, and the functions of a module that pass a text on to one of them."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    known = classes | {"refuse"}
    while helpers := {one.name for one in functions if _passes_on(one, known)} - known:
        known |= helpers
    return known


def _passes_on(function: ast.FunctionDef, known: set[str]) -> bool:
    given = function.args
    texts = {
        one.arg
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)
        if isinstance(one.annotation, ast.Name) and one.annotation.id == "str"
    }
    return any(
        isinstance(passed, ast.Name) and passed.id in texts
        for call in _calls(function, known)
        for passed in _arguments(call)
    )


def _calls(tree: ast.AST, known: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in known:
            yield node


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


def _messages(tree: ast.Module, known: set[str]) -> Iterator[str]:
    for call in _calls(tree, known):
        texts = [" ".join(_text(one).split()) for one in _arguments(call)]
        if said := [text for text in texts if len(text) >= SHORTEST]:
            yield " ".join(said)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.IfExp):
        return " | ".join(filter(None, (_text(node.body), _text(node.orelse))))
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(one) if isinstance(one, ast.Constant) else f"{{{ast.unparse(one.value)}}}"
            for one in node.values
            if isinstance(one, ast.Constant | ast.FormattedValue)
        )
    return ""
