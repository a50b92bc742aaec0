"""Styles and scripts; a digest in the address makes them cacheable for ever."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

OWN: Final = "keyfold_workbench.studio.assets"
ASSETS: Final = {
    "colours.css": ("keyfold_web.pages.assets", "text/css"),
    "studio.css": (OWN, "text/css"),
    "studio.js": (OWN, "text/javascript"),
}
KEPT: Final = "max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    """A file that pages load."""

    content: bytes
    media_type: str
    digest: str


@cache
def asset(name: str) -> Asset | None:
    """The file of this name; None if unknown."""
    if name not in ASSETS:
        return None
    package, media_type = ASSETS[name]
    content = (resources.files(package) / name).read_bytes()
    return Asset(content, media_type, hashlib.sha256(content).hexdigest()[:16])


def address(base: str, name: str) -> str:
    """Where pages find it."""
    found = asset(name)
    assert found is not None, f"{name} is one of the assets"
    return f"{base}/assets/{name}?v={found.digest}"
