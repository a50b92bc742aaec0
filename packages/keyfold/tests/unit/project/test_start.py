"""`keyfold new FOLDER`: a project that works at once."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from keyfold.cli import main
from keyfold.errors import KeyfoldError
from keyfold.hooks import WHEELS, hook, pip_arguments
from keyfold.project import EXTRAS


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_new_project_passes_its_tests_its_check_and_a_linter(tmp_path: Path) -> None:
    folder = tmp_path / "my-tasks"
    assert main(["new", str(folder)]) == 0
    tests = run(folder, "pytest", "-q", "-p", "no:cacheprovider")
    assert "3 passed" in tests.stdout, tests.stdout + tests.stderr
    check = run(folder, "keyfold", "check", "--fail-on", "warning")
    assert check.returncode == 0, check.stdout
    lint = run(folder, "ruff", "check", "--isolated", ".")
    assert lint.returncode == 0, lint.stdout
    served = run(folder, "keyfold", "api", "my_tasks.service")
    assert "--development" in served.stderr, "it is found, and asks who may sign in"
    assert not list(folder.rglob("*$*"))
    assert "$" not in (folder / "my_tasks" / "service.py").read_text()


@pytest.mark.parametrize("name", ["1st", "!!", "t3"])
def test_a_folder_that_cannot_be_a_package_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", str(tmp_path / name)]) == 2
    assert "cannot be a package" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("class", "'class' is a keyword of Python; choose another name"),
        ("json", "a package 'json' would hide one of Python's"),
        ("tests", "a package 'tests' would hide one of Python's"),
        ("keyfold", "a package 'keyfold' would hide one of Python's"),
        ("übung", "begin the folder's name with a letter from a to z"),
        ("", "name the folder of the new project, as in `keyfold new my-tasks`"),
    ],
)
def test_a_name_that_would_break_the_project_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", name]) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_printed_command_is_one_for_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my tasks"]) == 0
    assert shlex.split(capsys.readouterr().err)[:5] == ["cd", "my tasks", "&&", "make", "run"]


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    assert main(["new", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]


def test_a_keyfold_from_a_clone_says_how_a_project_installs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", str(tmp_path / "tasks")]) == 0
    command = capsys.readouterr().err.strip().partition("&& ")[2]
    source = " ".join(one.replace(" ", "\\ ") for one in pip_arguments(EXTRAS))
    assert command == f"make run KEYFOLD={shlex.quote(source)}"
    shown = subprocess.run(
        ["make", "--dry-run", ".venv", "KEYFOLD=/a/clone[web,aws]"],
        cwd=tmp_path / "tasks",
        capture_output=True,
        text=True,
        check=True,
    )
    assert ".venv/bin/pip install -q /a/clone[web,aws] --editable '.[dev]'" in shown.stdout


@pytest.mark.parametrize(
    ("origin", "arguments"),
    [
        ("file:///a/my%20clone/packages/keyfold", ["/a/my clone[web]"]),
        ("file:///w/keyfold-0.1.0-py3-none-any.whl", ["--find-links", "/w", "keyfold[web]"]),
        ("", ["--find-links", WHEELS, "keyfold[web]"]),
    ],
)
def test_pip_finds_parts_where_keyfold_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: str, arguments: list[str]
) -> None:
    written = json.dumps({"url": origin}) if origin else None
    monkeypatch.setattr(metadata.PathDistribution, "read_text", lambda self, name: written)
    assert pip_arguments("web") == arguments
    with pytest.raises(KeyfoldError) as told:
        hook("nothing-brings-this", "a price", "keyfold-web")
    command = f"pip install {shlex.join(arguments)}"
    assert str(told.value) == f"a price needs keyfold-web; run: {command}"


def test_a_new_project_installs_the_commands_that_its_readme_names(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path / "tasks")]) == 0
    about = tomllib.loads((tmp_path / "tasks/pyproject.toml").read_text())["project"]
    assert "keyfold[web,aws]" in about["dependencies"][0]
    assert "keyfold[workbench]" in about["optional-dependencies"]["dev"][0]
    readme = (tmp_path / "tasks/README.md").read_text()
    assert f"$ make run KEYFOLD='/a/clone[{EXTRAS}]'" in readme
    assert "`keyfold studio`" in readme


@pytest.mark.parametrize("flags", [["--output", "x.py"], ["--force"]])
def test_flags_of_a_declaration_are_refused_for_a_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert main(["new", str(tmp_path / "tasks"), *flags]) == 2
    assert "folder of a new project" in capsys.readouterr().err
    assert not (tmp_path / "tasks").exists()


def test_a_design_file_that_is_missing_makes_no_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", str(tmp_path / "shop.yaml")]) == 2
    assert "shop.yaml" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
