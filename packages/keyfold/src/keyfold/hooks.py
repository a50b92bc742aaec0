"""What a distribution above brings to a command of this one: entry points `keyfold.hooks`; and how
pip finds one that is missing.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from keyfold.errors import KeyfoldError

WHEELS = "/folder/of/wheels"
"""Where pip found keyfold with --find-links, which it does not keep."""
_ARCHIVES = (".whl", ".gz")


def hook(name: str, purpose: str, part: str) -> Callable[..., Any]:
    """A function by its name; says what to install if nothing brings it."""
    found = optional_hook(name)
    if found is None:
        raise KeyfoldError(f"{purpose} needs {part}; run: {installation(part)}")
    return found


def optional_hook(name: str) -> Callable[..., Any] | None:
    """A function by its name, if something brings it."""
    for point in entry_points(group="keyfold.hooks", name=name):
        found: Callable[..., Any] = point.load()
        return found
    return None


def clone() -> Path | None:
    """The clone from which this keyfold is installed, if it is."""
    path = _origin()
    return None if path is None or path.suffix in _ARCHIVES else path.parents[1]


def installation(part: str) -> str:
    """The command that installs a part, such as keyfold-web."""
    return f"pip install {shlex.join(pip_arguments(part.removeprefix('keyfold-')))}"


def pip_arguments(extras: str) -> list[str]:
    """With which pip finds parts of this keyfold: a clone, or a folder of wheels."""
    if (source := clone()) is not None:
        return [f"{source}[{extras}]"]
    archive = _origin()
    folder = str(archive.parent) if archive is not None else WHEELS
    return ["--find-links", folder, f"keyfold[{extras}]"]


def _origin() -> Path | None:
    """The file or folder that pip was given for keyfold, unless it found it by name."""
    origin = distribution("keyfold").read_text("direct_url.json")
    url = urlsplit(json.loads(origin)["url"] if origin else "")
    return Path(unquote(url.path)) if url.scheme == "file" else None
