"""Half-written designs: every prefix of ours is analysed, and none ends in a crash."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyfold_workbench.lsp.analysis import analyse_file
from keyfold_workbench.lsp.module import ModuleProcess

SYSTEMS = Path(__file__).parents[4] / "systems" / "src" / "keyfold_systems"
PREFIXES = int(os.environ.get("PREFIXES", "25"))


def prefixes(text: str) -> Iterator[str]:
    """Some of them, by a seed; with PREFIXES=0 all."""
    ends = range(len(text) + 1)
    chosen = random.Random(7).sample(ends, min(PREFIXES, len(ends))) if PREFIXES else ends
    return (text[:end] for end in sorted(chosen))


@pytest.mark.parametrize("path", sorted(SYSTEMS.glob("*/*.yaml")), ids=lambda one: one.parent.name)
def test_every_prefix_of_a_design_file_is_analysed(path: Path) -> None:
    for text in prefixes(path.read_text("utf-8")):
        for problem in analyse_file(text, str(path)).problems:
            assert problem.message
            assert problem.place.line <= text.count("\n") + 1


@pytest.fixture
def modules() -> Iterator[ModuleProcess]:
    process = ModuleProcess()
    yield process
    process.close()


@pytest.mark.parametrize(
    "path", sorted(SYSTEMS.glob("*/design.py")), ids=lambda one: one.parent.name
)
def test_prefixes_of_modules_are_analysed(modules: ModuleProcess, path: Path) -> None:
    text = path.read_text("utf-8")
    for prefix in (text, *list(prefixes(text))[:6]):
        for problem in modules.analyse(prefix, str(path)).problems:
            assert problem.message
