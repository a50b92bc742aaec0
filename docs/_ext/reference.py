"""Writes pages from the code, before each build: commands, settings, errors, API, rules."""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import os
import pkgutil
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from inspect import get_annotations
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, ForwardRef

from examples import example_of
from messages import messages_page
from source_map import source_page
from sphinx.application import Sphinx

import keyfold
from keyfold import cli, errors, settings
from keyfold.cli.guide import agent_guide
from keyfold.design import codes as design_codes
from keyfold.review.check import FAMILIES, RULES, rules
from keyfold.review.check.page import page
from keyfold_web import codes as serve_codes

_ADDRESS = re.compile(r"<function (?:\w+\.)*(<lambda>|\w+) at 0x[0-9a-f]+>")
INTERNAL = {"cli", "demo", "engine", "expressions", "values", "errors", "settings"}
"""Packages that are not part of the API, or have a page of their own."""
SETTINGS_NOTE = """\
```toml
[tool.keyfold]
design = "hangouts.tables:design"
backend = "hangouts.db"
table_prefix = "dev-"

[tool.keyfold.table_names]
AuditTable = "shared-audit"
```

`keyfold guide --settings` shows each value and where it came from:

```text
design        hangouts.tables:design    /home/ada/hangouts/pyproject.toml
backend       dynamodb://eu-west-1      --backend
table_prefix  staging-                  KEYFOLD_TABLE_PREFIX
table_names   AuditTable=shared-audit   /home/ada/hangouts/pyproject.toml
```

An unknown key is an error, with a suggestion.

The name of a table is the first of these that is set: its entry in `table_names`; the environment
variable that its declaration names, as in
`design.table("SearchRoom", name_variable="DYNAMODB_TABLE_NAME")`; `table_prefix` followed by its
declared name.
"""
SECRETS_NOTE = "Secrets are read only from the environment, never from a file, and are never shown."

RULES_NOTE = """
The rules of the design check. Every rule has a stable code, and a page with a wrong and a right
example. `keyfold check` runs the rules on a design; `keyfold rule Q1` prints a page.

AWS publishes design axioms. [AWS's axioms](aws.md) maps each of them to a rule, or explains why
there is none.
"""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("build-finished", write_llms)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    for name, text in pages().items():
        path = Path(app.srcdir) / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def pages() -> dict[str, str]:
    return committed_pages() | {
        "reference/api.md": api_page(),
        "reference/messages.md": messages_page(),
        "reference/source.md": source_page(),
    }


def committed_pages() -> dict[str, str]:
    """Pages that others link to are in the repository, so that they are read in a clone too."""
    return {
        "reference/cli.md": cli_page(),
        "reference/settings.md": settings_page(),
        "reference/errors.md": errors_page(),
        "rules/index.md": rules_page(),
        **{f"rules/{code}.md": page(code).text for code in RULES},
    }


def write_llms(app: Sphinx, error: Exception | None) -> None:
    """`llms.txt` beside the pages: the guide for assistants, and where the pages are."""
    if error is None:
        (Path(app.outdir) / "llms.txt").write_text(llms_text(Path(app.srcdir)), "utf-8")


def llms_text(source: Path) -> str:
    pages = sorted(path.relative_to(source) for path in (source / "guide").glob("*.md"))
    links = [f"- [{_heading(source / path)}]({path.with_suffix('.html')})" for path in pages]
    return agent_guide() + "\n## Pages\n\n" + "\n".join(links) + "\n"


def _heading(path: Path) -> str:
    return path.read_text("utf-8").partition("\n")[0].removeprefix("# ")


def cli_page() -> str:
    """Every command with its own `--help`."""
    parts = ["# Commands", "", "`keyfold COMMAND --help` prints the same.", ""]
    for name in cli.command_names():
        parser = cli.command_parser(name)
        parts += [f"## `keyfold {name}`", "", *_help(parser)]
        for sub in _subparsers(parser):
            parts += [f"### `{sub.prog}`", "", *_help(sub)]
    return "\n".join(parts)


def _help(parser: argparse.ArgumentParser) -> list[str]:
    # argparse folds to the width of the terminal; the page must not depend on who builds it.
    os.environ["COLUMNS"] = "92"
    text = io.StringIO()
    with redirect_stdout(text):
        parser.print_help()
    return ["```text", text.getvalue().rstrip(), "```", ""]


def _subparsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def settings_page() -> str:
    parts = ["# Settings", "", inspect.cleandoc(settings.__doc__ or ""), "", SETTINGS_NOTE]
    for setting in settings.SETTINGS:
        parts += [
            f"## `{setting.name}`",
            "",
            setting.doc,
            "",
            f"- Environment variable: `{setting.variable}`",
            f"- Flag: `{setting.flag}`",
            f"- Example: `{setting.example}`",
            f"- Default: {f'`{setting.default}`' if setting.default else 'nothing'}",
            "",
        ]
    parts += ["## Secrets", "", SECRETS_NOTE, ""]
    parts += [f"- `{variable}`: {doc}" for variable, doc in settings.SECRETS.items()]
    return "\n".join([*parts, ""])


def errors_page() -> str:
    """The tree of errors; those of DynamoDB with their names on the wire."""
    parts = ["# Errors", "", "All are in `keyfold.errors`.", ""]
    parts += ["```text", *_tree(errors.KeyfoldError, ""), "```", ""]
    for kind in error_classes():
        parts += [f"## `{kind.__name__}`", "", inspect.cleandoc(_own_doc(kind)), ""]
        if issubclass(kind, errors.OperationError):
            parts += [f"On the wire: `{kind.wire_name}`, status {kind.status}.", ""]
        if kind is errors.DeclarationError:
            parts += _declaration_codes()
    return "\n".join(parts)


def _declaration_codes() -> list[str]:
    titles = {**design_codes.TITLES, **serve_codes.TITLES}
    parts = ["Its code is that of a [rule](../rules/index.md), or one of these:", ""]
    parts += ["| Code | What is wrong |", "| --- | --- |"]
    return [*parts, *(f"| `{code}` | {title} |" for code, title in titles.items()), ""]


def error_classes() -> list[type[errors.KeyfoldError]]:
    """The classes of `keyfold.errors`, in the order of the tree."""
    return list(_family(errors.KeyfoldError))


def _family(kind: type[errors.KeyfoldError]) -> Iterator[type[errors.KeyfoldError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__.startswith(errors.__name__):
            yield from _family(child)


def _tree(kind: type[errors.KeyfoldError], indent: str) -> Iterator[str]:
    yield indent + kind.__name__
    for child in kind.__subclasses__():
        if child.__module__.startswith(errors.__name__):
            yield from _tree(child, indent + "  ")


def _own_doc(kind: type) -> str:
    return kind.__dict__.get("__doc__") or ""


def rules_page() -> str:
    """All rules by family, in the order of their numbers."""
    parts = ["# Rules", "", inspect.cleandoc(RULES_NOTE), ""]
    for family, (title, _) in FAMILIES.items():
        parts += [f"## {title}", "", "| Rule | What it finds | Severity |", "| --- | --- | --- |"]
        for one in rules([family]):
            parts += [f"| [{one.code}]({one.code}.md) | {one.title} | {one.severity} |"]
        parts.append("")
    ordered = [one.code for family in FAMILIES for one in rules([family])]
    return "\n".join([*parts, "```{toctree}", ":hidden:", "", "aws", *ordered, "```", ""])


def api_page() -> str:
    """Every name that a public module exports, under the first module that does."""
    parts = ["# Public API", "", "Names that are not on this page may change at any time.", ""]
    seen: set[int] = set()
    for topic, listed in topics().items():
        parts += [f"## {topic}", ""]
        for name in listed:
            parts += _documented(name, getattr(keyfold, name))
            seen.add(id(getattr(keyfold, name)))
    for module in api_modules():
        names = sorted(name for name in module.__all__ if id(getattr(module, name)) not in seen)
        seen |= {id(getattr(module, name)) for name in names}
        if names:
            parts += [f"## `{module.__name__}`", "", inspect.cleandoc(module.__doc__ or ""), ""]
        for name in names:
            parts += _documented(name, getattr(module, name))
    return "\n".join(parts)


def topics() -> dict[str, list[str]]:
    """The names of `keyfold`, by what they are for."""
    listed = tomllib.loads((Path(__file__).parent / "topics.toml").read_text("utf-8"))
    return {topic: [n for n in names if n in keyfold.__all__] for topic, names in listed.items()}


def api_modules() -> list[ModuleType]:
    """`keyfold`, the modules beside it, then its packages, as far as they say what they export."""
    names = [module.name for module in pkgutil.iter_modules(keyfold.__path__)]
    public = [f"keyfold.{name}" for name in names if name not in INTERNAL and name[0] != "_"]
    modules = [keyfold, *map(import_module, dict.fromkeys([*keyfold.MODULES, *public]))]
    return [module for module in modules if hasattr(module, "__all__")]


def _documented(name: str, value: Any) -> list[str]:
    lines = [f"### `{name}`", ""]
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return [
            *lines,
            *([text, ""] if (text := constant_doc(name, value)) else []),
            *_shown(name, value),
        ]
    lines += ["```text", f"{name}{_signature(value)}", "```", ""]
    if text := (_own_doc(value) if inspect.isclass(value) else inspect.getdoc(value) or ""):
        lines += [inspect.cleandoc(text), ""]
    if inspect.isclass(value):
        for method, function in vars(value).items():
            if not method.startswith("_") and inspect.isfunction(function) and function.__doc__:
                summary = inspect.cleandoc(function.__doc__).partition("\n\n")[0]
                lines += [f"- `{method}{_signature(function)}`: {' '.join(summary.split())}"]
        lines += [""]
    return [*lines, *_shown(name, value)]


@cache
def _constant_docs() -> dict[str, dict[str, str]]:
    """The sentences of each name, by the modules that declare it."""
    docs: dict[str, dict[str, str]] = defaultdict(dict)
    root = Path(keyfold.__path__[0])
    for path in sorted(root.rglob("*.py")):
        module = ".".join(["keyfold", *path.relative_to(root).with_suffix("").parts])
        body = ast.parse(path.read_text("utf-8")).body
        for node, text in pairwise(body):
            match node, text:
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(doc))),
                ):
                    docs[name].setdefault(module, inspect.cleandoc(doc))
                case ast.FunctionDef(name=name), _ if doc := ast.get_docstring(node):
                    docs[name].setdefault(module, doc)
    return docs


def constant_doc(name: str, value: object) -> str:
    """The string below the assignment of a public constant, in the module that declares it."""
    known = _constant_docs().get(name, {})
    return next(
        (
            doc
            for module, doc in known.items()
            if getattr(sys.modules.get(module), name, None) is value
        ),
        "",
    )


def _shown(name: str, value: Any) -> list[str]:
    found = example_of(name, value)
    if found is None:
        return []
    page = os.path.relpath(found.page, found.page.parents[1] / "reference")
    if found.page.parent.name != "guide":
        page = f"../{found.page.name}"
    return [f"From [{found.title}]({page}):", "", "```python", found.code, "```", ""]


class _Written:
    """An annotation, shown as it was written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    written = _annotations(value) if inspect.isclass(value) else {}
    parameters = [
        one.replace(annotation=_as_written(written.get(one.name, one.annotation)))
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    answer = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    text = str(signature.replace(parameters=parameters, return_annotation=_as_written(answer)))
    return _ADDRESS.sub(r"\1", text)


def _annotations(kind: type) -> dict[str, Any]:
    """Annotations as the source has them; Pydantic would show their metadata."""
    return {
        name: each
        for base in reversed(kind.__mro__)
        for name, each in get_annotations(base).items()
    }


def _as_written(annotation: Any) -> Any:
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    return _Written(annotation) if isinstance(annotation, str) else annotation
