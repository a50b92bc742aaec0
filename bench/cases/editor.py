"""What an editor waits for after the last key, on a design of 50 entities and 200 patterns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.cases.advise import of_one_table
from bench.harness import Budget, Case, Outcome, Side, compare
from keyfold.design.file import loads
from keyfold.review.draft.python import declaration
from keyfold_workbench.lsp.server import SECONDS_AFTER_THE_LAST_KEY, DesignServer

GOAL_SECONDS = 0.3


def diagnostics(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    text = of_one_table().replace("'", "")
    module, _ = declaration(loads(text))
    server = DesignServer()
    stack.callback(server.modules.close)
    sides = [
        Side("design file", lambda: server.analyse(text, str(folder / "large.yaml"))),
        Side("Python module", lambda: server.analyse(module, str(folder / "large_design.py"))),
    ]
    most = (GOAL_SECONDS - SECONDS_AFTER_THE_LAST_KEY) * 1e6
    outcome = compare(
        "editor",
        "Findings after the last key, 50 entities",
        sides,
        budget,
        reference="design file",
    )
    outcome.goal = (
        f"under {GOAL_SECONDS * 1000:g} ms with the wait of {SECONDS_AFTER_THE_LAST_KEY * 1000:g}"
    )
    outcome.met = all(row.median < most for row in outcome.rows)
    yield outcome


CASES = [Case("editor", "An editor's diagnostics", diagnostics)]
