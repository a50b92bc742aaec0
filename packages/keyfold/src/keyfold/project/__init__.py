"""A new project: design, service, tests, migrations, CI, Dockerfile, README."""

from __future__ import annotations

import json
import re
from importlib import metadata, resources
from pathlib import Path
from string import Template
from urllib.parse import unquote, urlsplit

from keyfold.errors import KeyfoldError

TABLE_NAME_CHARACTERS = 3
"""DynamoDB's minimum length of a table name."""
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
    if not package.isidentifier() or len(package) < TABLE_NAME_CHARACTERS:
        raise KeyfoldError(
            f"{name!r} cannot be a package and a table; begin the folder's name with a letter, and "
            f"give it at least {TABLE_NAME_CHARACTERS} characters"
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


def local_source() -> str:
    """The words with which pip finds this keyfold again: a clone or wheels; empty for an index."""
    origin = metadata.distribution("keyfold").read_text("direct_url.json")
    url = urlsplit(json.loads(origin)["url"] if origin else "")
    if url.scheme != "file":
        return ""
    path = Path(unquote(url.path).replace(" ", "\\ "))
    return f"--find-links {path.parent}" if path.suffix == ".whl" else f"{path.parents[1]}[web,aws]"
