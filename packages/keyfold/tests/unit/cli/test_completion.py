"""Completion by the shell, in a real bash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from keyfold.cli import command_names, main

ASK = """\
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _keyfold; printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["guide", "--completion", "bash"]) == 0
    path = tmp_path / "completion.bash"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ch", ["check"]),
        ("check --fa", ["--fail-on"]),
        ("check --format sa", ["sarif"]),
        ("migrations ap", ["apply"]),
    ],
)
def test_commands_flags_and_choices_are_offered(
    script: Path, typed: str, offered: list[str]
) -> None:
    words = ["keyfold", *typed.split(" ")]
    done = subprocess.run(
        ["bash", "-c", ASK, "bash", str(script), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "--completion", shell]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in command_names())
