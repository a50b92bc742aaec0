"""Every code block of the README and the documentation runs as printed.

The blocks of a page share a namespace and a temporary directory. A Python block that begins with
`# name.py` is that file: it is saved and imported. A bash block is lines of `keyfold ...`.
Blocks in any other language are not run.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import re
import shlex
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.parts import PARTS, ROOT, files

from keyfold import AsyncDb, Db, cli

GENERATED = {ROOT / "docs" / "reference", ROOT / "docs" / "rules"}
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^ *```$", re.M | re.S)
FILE_NAME = re.compile(r"# (\w+)\.py\n")


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int


def pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.parent not in GENERATED and "_build" not in path.parts:
            yield path
    yield from (folder / "README.md" for folder in dict.fromkeys(PARTS.values()))
    yield from files("README.md")


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(
            found["language"],
            textwrap.dedent(found["code"]),
            text.count("\n", 0, found.start("code")),
        )
        for found in FENCE.finditer(text)
        if found["language"] in ("python", "bash")
    ]


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A module for the page: annotations and `__module__` work in it as in a file."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = types.ModuleType("page")
    sys.modules["page"] = module
    yield module
    for value in vars(module).values():
        if isinstance(value, Db):
            value.close()
        elif isinstance(value, AsyncDb):
            asyncio.run(value.close())
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if name == "page" or file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages() if blocks(page)],
)
def test_the_blocks_of_a_page_run_as_printed(page: Path, namespace: types.ModuleType) -> None:
    with asyncio.Runner() as runner:
        for block in blocks(page):
            if block.language == "bash":
                run_commands(block, page)
            elif named := FILE_NAME.match(block.code):
                import_as_file(named[1], block, namespace)
            else:
                run_python(block, page, namespace, runner)


def run_commands(block: Block, page: Path) -> None:
    for line in block.code.splitlines():
        program, *arguments = shlex.split(line, comments=True) or [""]
        if not program:
            continue
        assert program == "keyfold", (
            f"{page}: only keyfold runs in a bash block, use console: {line}"
        )
        assert cli.main(arguments) == 0, f"{page}:{block.line}: {line}"


def import_as_file(name: str, block: Block, namespace: types.ModuleType) -> None:
    path = Path.cwd() / f"{name}.py"
    path.write_text(block.code, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(namespace).update({k: v for k, v in vars(module).items() if not k.startswith("__")})


def run_python(
    block: Block, page: Path, namespace: types.ModuleType, runner: asyncio.Runner
) -> None:
    tree = ast.increment_lineno(ast.parse(block.code), block.line)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(tree, str(page), "exec", flags=flags, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        runner.run(eval(code, vars(namespace)))
    else:
        exec(code, vars(namespace))
