"""Where settings come from, and what happens to wrong ones."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pytest

from keyfold import settings
from keyfold.errors import SettingError
from keyfold.settings import DEFAULT, Settings, load


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_without_sources_every_setting_has_its_default(tmp_path: Path) -> None:
    found = load(folder=tmp_path, environment={})
    for setting in settings.SETTINGS:
        assert found.origin(setting.name) == DEFAULT
        assert getattr(found, setting.name) == ({} if setting.many else setting.default)


def test_pyproject_then_environment_then_flags(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "pyproject.toml",
        '[tool.keyfold]\ndesign = "a:design"\nbackend = "http://file"\ntable_prefix = "file-"\n',
    )
    environment = {"KEYFOLD_BACKEND": "http://variable", "KEYFOLD_TABLE_PREFIX": "variable-"}
    found = load({"table_prefix": "flag-"}, folder=tmp_path, environment=environment)
    assert (found.design, found.origin("design")) == ("a:design", str(path))
    assert (found.backend, found.origin("backend")) == ("http://variable", "KEYFOLD_BACKEND")
    assert (found.table_prefix, found.origin("table_prefix")) == ("flag-", "--table-prefix")


def test_the_nearest_file_above_the_working_directory_counts(tmp_path: Path) -> None:
    write(tmp_path, "keyfold.toml", 'table_prefix = "far-"\n')
    near = tmp_path / "near"
    deep = near / "a" / "b"
    deep.mkdir(parents=True)
    write(near, "keyfold.toml", 'table_prefix = "near-"\n')
    write(deep, "pyproject.toml", '[project]\nname = "without settings"\n')
    assert load(folder=deep, environment={}).table_prefix == "near-"


def test_a_relative_data_file_belongs_to_the_folder_of_its_settings(tmp_path: Path) -> None:
    write(tmp_path, "keyfold.toml", 'backend = "data/hangouts.db"\n')
    below = tmp_path / "below"
    below.mkdir()
    assert load(folder=below, environment={}).backend == str(tmp_path / "data/hangouts.db")


@pytest.mark.parametrize("address", [":memory:", "dynamodb://eu-west-1", "http://localhost:8000"])
def test_an_address_that_is_no_file_stays_as_written(tmp_path: Path, address: str) -> None:
    write(tmp_path, "keyfold.toml", f'backend = "{address}"\n')
    assert load(folder=tmp_path, environment={}).backend == address


def test_two_files_in_one_folder_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "keyfold.toml", 'design = "a:design"\n')
    write(tmp_path, "pyproject.toml", '[tool.keyfold]\ndesign = "b:design"\n')
    with pytest.raises(SettingError, match="keep one of them"):
        load(folder=tmp_path, environment={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('backnd = "x"', "unknown setting 'backnd'; did you mean 'backend'?"),
        ('zzz = "x"', "unknown setting 'zzz'; use one of backend, check, design"),
        ("backend = 8000", "backend must be a text, not 8000"),
        ('table_names = "x"', "table_names must be a table of texts, not 'x'"),
        ("table_names = {A = 1}", "table_names must be a table of texts"),
        ("backend = ", "cannot be read"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "keyfold.toml", text)
    with pytest.raises(SettingError) as caught:
        load(folder=tmp_path, environment={})
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_misspelt_variable_is_refused_with_the_right_name(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="did you mean 'KEYFOLD_TABLE_PREFIX'"):
        load(folder=tmp_path, environment={"KEYFOLD_TABLE_PREFX": "x"})


def test_a_secret_in_the_environment_is_no_setting_and_no_mistake(tmp_path: Path) -> None:
    for variable in settings.SECRETS:
        found = load(folder=tmp_path, environment={variable: "key:secret"})
        assert "secret" not in repr(found)


def test_table_names_as_text_are_pairs(tmp_path: Path) -> None:
    environment = {"KEYFOLD_TABLE_NAMES": "A=one, B=two"}
    assert load(folder=tmp_path, environment=environment).table_names == {"A": "one", "B": "two"}
    with pytest.raises(SettingError, match="KEYFOLD_TABLE_NAMES: 'A' is not of the form"):
        load(folder=tmp_path, environment={"KEYFOLD_TABLE_NAMES": "A"})


def test_a_command_reads_only_the_flags_that_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "keyfold.toml", 'design = "a:design"\n')
    parser = ArgumentParser()
    settings.add_flags(parser, "design", "backend")
    found = settings.from_arguments(parser.parse_args(["--backend", ":memory:"]))
    assert (found.design, found.backend) == ("a:design", ":memory:")


def test_the_list_of_settings_and_the_fields_agree() -> None:
    fields = set(Settings.__dataclass_fields__) - {"origins"}
    assert fields == set(settings.BY_NAME)
