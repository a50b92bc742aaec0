"""Clients of Python that need an environment of their own, against `keyfold serve`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from .conftest import CREDENTIALS, python_peer


def _told(package: str, script: str, url: str) -> Any:
    """What a script of tests/peers/python prints."""
    done = subprocess.run(
        [python_peer(package) / "python", Path(__file__).parent / "python" / script, url],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **CREDENTIALS},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_models_of_bloop_are_saved_found_and_followed(keyfold_url: str) -> None:
    told = _told("bloop", "bloop_models.py", keyfold_url)
    records = told.pop("records")
    assert told == {
        "refused": True,
        "range": [6, 5, 4, 3],
        "index": 8,
        "filtered": [1, 2],
        "loaded": "b@x",
        "missing": 1,
    }
    assert sorted(records) == [[False, True]] + [[True, False]] * 9


def test_statements_of_pydynamodb_write_and_read(keyfold_url: str) -> None:
    assert _told("pydynamodb", "pydynamodb_statements.py", keyfold_url) == {
        "one": [[3, "t3", "2026-11-01", ["a", "b"], {"k": 3}]],
        "parts": [["t1", "a", 1], ["t2", "a", 2]],
        "columns": ["title", "tags[0]", "k"],
        "indexed": [["t3"], ["t4"]],
        "named": [
            {"issue": 0, "k": 0},
            {"issue": 1, "k": 10},
            {"issue": 3, "k": 3},
            {"issue": 4, "k": 4},
        ],
        "together": [[7], [8]],
    }
