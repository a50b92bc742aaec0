"""Files that are not there, directories in place of files: said in one line, and nothing made."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyfold.cli import main

DESIGN = "keyfold_systems.inviter.design:design"
READING = [
    ["check", DESIGN, "--live"],
    ["verify", DESIGN],
    ["repair", DESIGN],
    ["rebuild", DESIGN],
    ["streams", "status", DESIGN],
    ["streams", "letters", DESIGN],
    ["inspect", "InviterTable"],
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("keyfold: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_command_that_reads_makes_no_data_file(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    error = said(capsys, *command, "--backend", "nowhere.db")
    assert "the data file nowhere.db does not exist" in error
    assert not Path("nowhere.db").exists()


def test_a_table_that_is_not_there_leads_to_the_settings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty.db").touch()
    error = said(capsys, "inspect", "Nothing", "--backend", "empty.db")
    assert "Table: Nothing not found; is it the right backend?" in error


@pytest.mark.parametrize(
    "command",
    [
        ["check", DESIGN, "--output"],
        ["export", "iam", DESIGN, "--output"],
        ["cost", DESIGN, "--format", "json", "--output"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_written_is_named(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert "folder: Is a directory" in said(capsys, *command, "folder")


def test_a_dump_of_no_file_and_a_load_of_no_export_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "the data file nowhere.db does not exist" in said(
        capsys, "dump", "nowhere.db", "Things", "out"
    )
    assert "the export nowhere does not exist" in said(
        capsys, "load", "new.db", "Things", "nowhere"
    )
    assert not Path("new.db").exists()


def test_the_file_of_a_design_is_no_module(capsys: pytest.CaptureFixture[str]) -> None:
    error = said(capsys, "check", "shop/tables.py")
    assert "name its module, as shop.tables:design" in error
