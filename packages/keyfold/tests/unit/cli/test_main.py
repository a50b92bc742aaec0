"""The frame of the `keyfold` command."""

from __future__ import annotations

import shlex
import subprocess
import sys
import types
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from pathlib import Path

import pytest

from keyfold import cli, hooks
from keyfold.errors import KeyfoldError
from keyfold_engine.commands import modules_of


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A command called `load`; tests give it a `run`."""
    module = types.ModuleType("keyfold.cli.load")
    held = {"HELP": "A sample.", "EXAMPLES": ("keyfold load",), "configure": _configure}
    module.__dict__.update(held, run=lambda args: 0)
    monkeypatch.setitem(sys.modules, "keyfold.cli.load", module)
    monkeypatch.setattr(cli, "command_names", lambda: ["load", "guide"])
    return module


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=1)


def raising(error: BaseException) -> object:
    def run(args: Namespace) -> int:
        raise error

    return run


def test_a_command_gets_its_arguments_and_its_code_is_the_exit_code(
    command: types.ModuleType,
) -> None:
    command.__dict__["run"] = lambda args: args.times
    assert cli.main(["load", "--times", "7"]) == 7


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["giude"]) == 2
    assert capsys.readouterr().err == "keyfold: unknown command 'giude'; did you mean 'guide'?\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["load", "--tims", "7"], "unknown option --tims; did you mean '--times'?"),
        (["load", "--tims=7"], "unknown option --tims; did you mean '--times'?"),
        (["load", "--zzz"], "unknown option --zzz; use one of --help, --times"),
        (["load", "rest"], "unrecognized arguments: rest"),
    ],
)
def test_an_unknown_option_names_the_nearest(
    command: types.ModuleType,
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    assert capsys.readouterr().err.endswith(f"keyfold load: error: {sentence}\n")


def test_an_unknown_option_of_an_action_names_one_of_that_action(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["migrations", "plan", "--bakend=app.db"])
    assert "unknown option --bakend; did you mean '--backend'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("clone", "sentence"),
    [
        (Path("/a/my clone"), "needs the systems, which pip does not install; run: make -C '/a/my"),
        (None, "runs in a clone of keyfold; run `make run` there"),
    ],
)
def test_the_demo_says_why_it_cannot_run(
    monkeypatch: pytest.MonkeyPatch,
    clone: Path | None,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cli.PROGRAM.__class__, "_installed", lambda self: {})
    monkeypatch.setattr(hooks, "clone", lambda: clone)
    assert cli.main(["demo"]) == 2
    assert f"keyfold demo {sentence}" in capsys.readouterr().err


def test_a_missing_part_is_installed_from_the_clone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli.PROGRAM.__class__, "_installed", lambda self: {})
    monkeypatch.setattr(hooks, "clone", lambda: Path("/a/clone"))
    assert cli.main(["studio"]) == 2
    sentence = "keyfold studio needs keyfold-workbench; run: pip install '/a/clone[workbench]'\n"
    assert capsys.readouterr().err == f"keyfold: {sentence}"


def test_a_mistake_of_the_user_is_one_line_and_code_2(
    command: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    command.__dict__["run"] = raising(KeyfoldError("the file is not there; make it first"))
    assert cli.main(["load"]) == 2
    assert capsys.readouterr().err == "keyfold: the file is not there; make it first\n"


def test_control_c_ends_without_a_traceback(
    command: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    command.__dict__["run"] = raising(KeyboardInterrupt())
    assert cli.main(["load"]) == 130
    assert capsys.readouterr() == ("", "")


def test_the_overview_lists_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(shown) == cli.command_names()


def test_every_command_is_in_a_group() -> None:
    grouped = {name for group in cli.GROUPS.values() for name in group}
    assert set(cli.command_names()) - grouped == set()


def test_a_command_of_another_part_names_the_extra_that_brings_it() -> None:
    brought = {
        extra: sorted(modules_of(f"keyfold_{extra}.commands"))
        for extra in cli.PARTS
        if find_spec(f"keyfold_{extra}")
    }
    assert brought == {extra: sorted(cli.PARTS[extra]) for extra in brought}


def test_every_command_is_complete() -> None:
    for name in cli.command_names():
        assert cli.command(name).HELP.endswith("."), name
        assert cli.command_parser(name).prog == f"keyfold {name}"


def test_every_help_ends_with_examples_that_its_parser_takes() -> None:
    for name in cli.command_names():
        parser = cli.command_parser(name)
        for example in cli.command(name).EXAMPLES:
            words = shlex.split(example)
            assert words[:2] == ["keyfold", name]
            parser.parse_args(words[2:])
        choices = [one.choices for one in parser._actions if isinstance(one.choices, dict)]
        for made in [parser, *(sub for group in choices for sub in group.values())]:
            assert made.format_help().splitlines()[-1].startswith("  keyfold "), made.prog


def test_version_from_a_real_process() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "keyfold", "--version"], capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith("keyfold ")


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    script = (
        "import sys, keyfold.cli as cli\n"
        "def endless(given):\n"
        "    while True: print('x' * 4096)\n"
        "cli.Program._dispatch = lambda self, given: endless(given)\n"
        "sys.exit(cli.main([]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_settings_shows_values_and_where_they_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEYFOLD_TABLE_NAMES", "Rooms=rooms-live")
    assert cli.main(["guide", "--settings", "--backend", ":memory:"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["backend", ":memory:", "--backend"] in rows
    assert ["table_names", "Rooms=rooms-live", "KEYFOLD_TABLE_NAMES"] in rows
    assert ["design", "-", "default"] in rows
