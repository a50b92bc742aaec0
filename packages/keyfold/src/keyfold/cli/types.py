"""`keyfold types`: write the types of a design's entities for type checkers and editors."""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._watch import import_uncached
from keyfold.errors import KeyfoldError

if TYPE_CHECKING:
    from keyfold.design.design import Declarations
    from keyfold.review.typed_module import TypedModule

HELP = "Write the types of a design's entities, for type checkers and editors."
EXAMPLES = ("keyfold types app.design:design",)
SECONDS_BETWEEN_LOOKS = 0.3
LINES_SHOWN = 12


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="?", help="package.module:design (default: the design in the settings)")
    add("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    add("--watch", action="store_true", help="regenerate on every save")
    settings.add_flags(parser, "design")


def run(args: argparse.Namespace) -> int:
    target = args.target or settings.from_arguments(args).design
    if not target or target.endswith((".yaml", ".yml")):
        raise KeyfoldError("name a design: keyfold types package.module:design")
    if args.watch:
        import_uncached()
    started = time.time_ns()
    modules = _modules(_load_design(target, write=not args.check), target)
    if args.check:
        stale = [module for module in modules if module.stale]
        for module in stale:
            print(f"{_short_path(module.file)} is stale; run: keyfold types {target}")
            print("\n".join(_difference(module)))
        return 1 if stale else 0
    for module in modules:
        state = "written" if module.write() else "up to date"
        print(f"{_short_path(module.file)}: {state}", file=sys.stderr)
        if module.without:
            names = ", ".join(module.without)
            hint = f"write class {module.without[0]}(typed.{module.without[0]}, ...)"
            print(f"{module.name}: without types: {names}; {hint}", file=sys.stderr)
    return _watch(target, modules, started) if args.watch else 0


def _load_design(target: str, *, write: bool) -> Declarations:
    """The design, whose modules may import types that have not been generated yet."""
    from keyfold.design.target import load_design
    from keyfold.review.typed_module import TwinFinder

    if not write:
        return load_design(target)
    sys.meta_path.append(TwinFinder)
    try:
        return load_design(target)
    finally:
        sys.meta_path.remove(TwinFinder)


def _modules(design: Declarations, target: str) -> list[TypedModule]:
    from keyfold.review.typed_module import typed_modules

    found = typed_modules(design.entities.values())
    if not found:
        raise KeyfoldError(
            f"no entity of {target} uses generated types; in app/entities.py write "
            "`from app import entities_types as typed` and `class Room(typed.Room, Entity, ...)`"
        )
    return found


def _difference(module: TypedModule) -> list[str]:
    before = module.file.read_text(encoding="utf-8") if module.file.exists() else ""
    lines = difflib.unified_diff(before.splitlines(), module.text.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))][:LINES_SHOWN]


def _watch(target: str, modules: list[TypedModule], started: int) -> int:
    """A new process per change: a module cannot be declared twice in one."""
    sources = [module.file.with_name(f"{module.name.rpartition('.')[2]}.py") for module in modules]
    # A file saved after the start may not be what was imported: treat it as changed.
    seen = [min(source.stat().st_mtime_ns, started) for source in sources]
    while True:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        now = [source.stat().st_mtime_ns if source.exists() else 0 for source in sources]
        if now != seen:
            seen = now
            subprocess.run([sys.executable, "-m", "keyfold", "types", target], check=False)


def _short_path(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
