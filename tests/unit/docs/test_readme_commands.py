"""The commands under "Four ways in" in the README work in a new project, in their order."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from keyfold.cli import command_parser, main

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
UNTIL_STOPPED = {"api", "studio", "lsp", "mcp"}


def commands() -> list[list[str]]:
    block = re.search(r"## Four ways in.*?```console\n(.*?)```", README, re.DOTALL)
    assert block is not None
    return [shlex.split(line.removeprefix("$ "), comments=True) for line in block[1].splitlines()]


def test_the_tools_work_in_a_new_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for program, *words in commands():
        if program == "cd":
            monkeypatch.chdir(tmp_path / words[0])
        elif words[0] in UNTIL_STOPPED:
            command_parser(words[0]).parse_args(words[1:])
        else:
            assert main([word for word in words if word != "--watch"]) == 0, capsys.readouterr().err
    assert "1,000 items of my_tasks" in capsys.readouterr().out
