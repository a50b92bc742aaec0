"""Settings: where the design is, which backend, how tables are called.

They come from `[tool.keyfold]` in pyproject.toml or from keyfold.toml (the nearest one, from the
working directory up), from `KEYFOLD_*` environment variables and from flags; the later wins.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keyfold_engine.suggestion import nearest as nearest

from .errors import SettingError

ENVIRONMENT_PREFIX = "KEYFOLD_"
SECTIONS = ("check",)
"""Tables of the file that a command reads for itself."""
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set; its flag and environment variable follow from its name."""

    name: str
    doc: str
    example: str
    default: str = ""
    many: bool = False

    @property
    def variable(self) -> str:
        return ENVIRONMENT_PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "design",
        "The design: an importable module and the name in it.",
        example="hangouts.tables:design",
    ),
    Setting(
        "backend",
        "The backend: a data file, `:memory:`, `http://host:port` for a server with DynamoDB's "
        "API, or `dynamodb://region` for Amazon DynamoDB. A relative path is relative to the "
        "settings file.",
        example="dynamodb://eu-west-1",
        default="keyfold.db",
    ),
    Setting(
        "table_prefix",
        "Prefix of all table names, so that several environments can share an account.",
        example="staging-",
    ),
    Setting(
        "table_names",
        "Table names that replace those of the design, without the prefix. "
        "In the environment and on the command line: `Table=name,Other=name`.",
        example="InviterTable=inviter-production",
        many=True,
    ),
)

SECRETS: Mapping[str, str] = {
    "KEYFOLD_CREDENTIALS": "Access keys and their secrets, `ACCESS_KEY:SECRET,...`, that "
    "`keyfold serve` verifies signatures with.",
    "KEYFOLD_CURSOR_SECRET": "Encrypts page cursors, at least 16 bytes; `new,old` during a "
    "rotation. Without it, a random secret is stored beside the data file.",
    "KEYFOLD_WEBHOOK_SECRET": "Signs the webhook requests of `keyfold streams run`.",
}
"""Read only from the environment, by the command that needs them; never shown."""

BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """What was set, and for each setting where its value came from."""

    design: str = ""
    backend: str = BY_NAME["backend"].default
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    def origin(self, name: str) -> str:
        return self.origins.get(name, DEFAULT)


def load(
    flags: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Read all sources; raises SettingError for what does not exist or has a wrong value."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, value, origin in (
        *_from_file(folder or Path.cwd()),
        *_from_environment(os.environ if environment is None else environment),
        *_from_flags(flags or {}),
    ):
        values[name], origins[name] = value, origin
    return Settings(**values, origins=origins)


def add_flags(parser: ArgumentParser, *names: str) -> None:
    """Give a command the flags of these settings; `from_arguments` reads them again."""
    for setting in (BY_NAME[name] for name in names):
        parser.add_argument(
            setting.flag,
            dest=setting.name,
            metavar=setting.example.replace("%", "%%"),
            help=setting.doc.replace("`", "").replace("%", "%%"),
        )


def from_arguments(arguments: Namespace) -> Settings:
    """The settings of a command whose parser had `add_flags`."""
    given = vars(arguments)
    return load({name: given[name] for name in BY_NAME if given.get(name) is not None})


_Found = tuple[str, str | dict[str, str], str]


def _from_file(folder: Path) -> Iterator[_Found]:
    for place in (folder, *folder.parents):
        sections = list(_sections(place))
        if len(sections) > 1:
            both = " and ".join(str(path) for path, _ in sections)
            raise SettingError(f"{both} both have settings; keep one of them")
        for path, section in sections:
            for name, value in section.items():
                if name in SECTIONS:
                    continue
                if name not in BY_NAME:
                    known = nearest(name, (*BY_NAME, *SECTIONS))
                    raise SettingError(f"{path}: unknown setting {name!r}; {known}")
                setting = BY_NAME[name]
                yield name, _setting_value(setting, value, path), str(path)
            return


def section(name: str, folder: Path | None = None) -> tuple[Path, dict[str, Any]] | None:
    """A command's own table of the nearest file with settings, and the file."""
    start = folder or Path.cwd()
    for place in (start, *start.parents):
        for path, found in _sections(place):
            table = found.get(name, {})
            if not isinstance(table, dict):
                raise SettingError(f"{path}: {name} must be a table, not {table!r}")
            return path, table
    return None


def _sections(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    pyproject, own = folder / "pyproject.toml", folder / "keyfold.toml"
    if pyproject.is_file() and "keyfold" in (tools := _parse(pyproject).get("tool", {})):
        yield pyproject, tools["keyfold"]
    if own.is_file():
        yield own, _parse(own)


def _parse(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingError(f"{path} cannot be read: {error}") from None


def _setting_value(setting: Setting, value: Any, path: Path) -> str | dict[str, str]:
    if setting.many:
        if isinstance(value, dict) and all(isinstance(name, str) for name in value.values()):
            return dict(value)
        raise SettingError(f"{path}: {setting.name} must be a table of texts, not {value!r}")
    if not isinstance(value, str):
        raise SettingError(f"{path}: {setting.name} must be a text, not {value!r}")
    if setting.name == "backend" and "://" not in value and value != ":memory:":
        return str(path.parent / value)
    return value


def _from_environment(environment: Mapping[str, str]) -> Iterator[_Found]:
    by_variable = {setting.variable: setting for setting in SETTINGS}
    for variable in sorted(environment):
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in SECRETS:
            setting = _find(variable, by_variable, "unknown environment variable")
            yield setting.name, _from_text(setting, environment[variable], variable), variable


def _from_flags(flags: Mapping[str, str]) -> Iterator[_Found]:
    for name, text in flags.items():
        setting = _find(name, BY_NAME, "unknown setting")
        yield name, _from_text(setting, text, setting.flag), setting.flag


def _from_text(setting: Setting, text: str, origin: str) -> str | dict[str, str]:
    if not setting.many:
        return text
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if wrong := [name for name, equals, value in pairs if not (name and equals and value)]:
        raise SettingError(
            f"{origin}: {wrong[0]!r} is not of the form name=value (as in {setting.example})"
        )
    return {name.strip(): value.strip() for name, _, value in pairs}


def _find(name: str, known: Mapping[str, Setting], problem: str) -> Setting:
    if name in known:
        return known[name]
    raise SettingError(f"{problem} {name!r}; {nearest(name, known)}")
