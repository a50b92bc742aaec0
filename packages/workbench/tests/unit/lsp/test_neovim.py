"""`keyfold lsp` in Neovim, an editor whose client is not ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .test_server import FILE

SCRIPT = Path(__file__).with_name("neovim.lua")
needs_neovim = pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")


@needs_neovim
def test_neovim_shows_findings_hovers_definitions_and_completion(tmp_path: Path) -> None:
    design = tmp_path / "design.yaml"
    design.write_text(FILE)
    told = subprocess.run(
        ["nvim", "--headless", "--clean", "-c", f"luafile {SCRIPT}", "-c", "cquit"],
        env={**os.environ, "DESIGN": str(design), "PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stderr
    said = dict(line.split(": ", 1) for line in told.stdout.splitlines() if ": " in line)
    assert "K8@14" in said["opened"]
    assert "LISTING#{listingId}" in said["hover"]
    assert said["definition"] == "11"
    assert {"price", "roomId"} <= set(said["completion"].split())
    assert "@19" in said["typed"]
    assert said["undone"] == said["opened"]
