"""A new project: design, service, tests, migrations, CI, Dockerfile, README."""

from __future__ import annotations

import keyword
import re
import sys
from importlib import metadata, resources
from pathlib import Path
from string import Template

from keyfold.errors import KeyfoldError

TABLE_NAME_CHARACTERS = 3
"""DynamoDB's minimum length of a table name."""
EXTRAS = "web,workbench,aws"
"""What a new project uses: its service, its README's commands, its Dockerfile."""
_PARTS = {"keyfold", "keyfold_engine", "keyfold_web", "keyfold_workbench"}
_USED = _PARTS | {"pydantic", "pytest", "tests", "migrations"}
"""Names that a new project imports, or gives to folders of its own."""
_FILES = {
    "design.py.in": "{package}/design.py",
    "service.py.in": "{package}/service.py",
    "package.py.in": "{package}/__init__.py",
    "tests/test_service.py.in": "tests/test_service.py",
    "tests/test_design.py.in": "tests/test_design.py",
    "migrations/README.md": "migrations/README.md",
    "github/ci.yml": ".github/workflows/ci.yml",
    "Dockerfile": "Dockerfile",
    "Makefile": "Makefile",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "keyfold.toml": "keyfold.toml",
    "pyproject.toml.in": "pyproject.toml",
}


def start(folder: Path) -> list[Path]:
    """Write a project into a new or empty directory; returns the files."""
    name = folder.resolve().name
    package = re.sub(r"\W+", "_", name).strip("_").lower()
    possible = package.isascii() and package.isidentifier()
    if not possible or len(package) < TABLE_NAME_CHARACTERS:
        raise KeyfoldError(
            f"{name!r} cannot be a package and a table; begin the folder's name with a letter from "
            f"a to z, and give it at least {TABLE_NAME_CHARACTERS} characters"
        )
    if keyword.iskeyword(package):
        raise KeyfoldError(f"{package!r} is a keyword of Python; choose another name")
    if package in sys.stdlib_module_names or package in _USED:
        raise KeyfoldError(
            f"a package {package!r} would hide one of Python's or of the project's own; "
            "choose another name"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KeyfoldError(f"{folder} already exists and is not empty; choose another folder")
    words = {
        "package": package,
        "name": package.replace("_", "-"),
        "title": package.replace("_", " ").capitalize(),
        "version": metadata.version("keyfold"),
    }
    written = []
    for source, target in _FILES.items():
        text = (resources.files(__name__) / "files" / source).read_text("utf-8")
        path = folder / target.format(package=package)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
        written.append(path)
    return written
