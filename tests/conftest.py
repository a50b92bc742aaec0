"""What holds for every test: how properties run, and when a skip is a failure."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Tests start commands that refuse unknown KEYFOLD_ variables, so this one is taken out.
NO_SKIPS = bool(os.environ.pop("KEYFOLD_NO_SKIPS", ""))

# Terminals differ in width, and output is folded to it.
os.environ["COLUMNS"] = "100"

# Machines differ in speed: a property fails by its result, never by its time.
settings.register_profile(
    "keyfold", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "50"))
)
settings.load_profile("keyfold")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where everything is installed (KEYFOLD_NO_SKIPS=1), a skipped test fails the session."""
    if NO_SKIPS and session.exitstatus == pytest.ExitCode.OK and _skipped(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if NO_SKIPS and (skipped := _skipped(config)):
        terminalreporter.section("skips are not allowed here (KEYFOLD_NO_SKIPS)", red=True)
        for report in skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            terminalreporter.line(f"{report.nodeid}: {reason}")


def _skipped(config: pytest.Config) -> list[pytest.TestReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return list(reporter.stats.get("skipped", ())) if reporter else []
