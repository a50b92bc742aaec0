"""The parts of this repository and their files, for tests that look at all of them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = {
    "keyfold_engine": ROOT / "packages/engine",
    "keyfold": ROOT / "packages/keyfold",
    "keyfold_web": ROOT / "packages/web",
    "keyfold_workbench": ROOT / "packages/workbench",
    "keyfold_systems": ROOT / "systems",
    "keyfold_demo": ROOT / "systems",
}
"""Each package, and the folder of its part."""
DISTRIBUTED = tuple(name for name, folder in PARTS.items() if folder.name != "systems")
"""The packages that users install."""


def source(package: str) -> Path:
    return PARTS[package] / "src" / package


def files(pattern: str, packages: tuple[str, ...] = tuple(PARTS)) -> list[Path]:
    """The files of these packages; nothing found is a mistake in the pattern or the packages."""
    found = [path for package in packages for path in sorted(source(package).rglob(pattern))]
    assert found, f"no file matches {pattern} in {', '.join(packages)}"
    return found


def module(path: Path) -> str:
    """A file relative to the `src` folder that it stands in."""
    return path.relative_to(path.parents[path.parts[::-1].index("src") - 1]).as_posix()
