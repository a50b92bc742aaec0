"""What holds for every test: how properties run, and when a skip is a failure."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import tests.unit  # noqa: F401  the folders of all parts, as one
from hypothesis import settings

# Tests start commands that refuse unknown KEYFOLD_ variables, so this one is taken out.
NO_SKIPS = bool(os.environ.pop("KEYFOLD_NO_SKIPS", ""))

# The engine's tests also run where keyfold is not installed.
pytest_plugins = ["keyfold"] if find_spec("keyfold") else []
HOMES = ("packages/engine", "packages/keyfold", "packages/web", "packages/workbench", "systems")
# A test starts programs that import `tests.` too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    str(Path(__file__).parent / home) for home in (".", *HOMES)
)
LONG = (
    "browser",
    "deterministic",
    "fault",
    "packaging",
    "peers",
    "property",
    "systems/inviter/test_random_operations.py",
    "systems/sellers/test_migration.py",
    "systems/tamafriends/test_histories.py",
    "systems/test_half_expired.py",
    "systems/test_processes.py",
    "systems/test_served.py",
    "typing",
    "unit/api/test_process.py",
    "unit/bench",
    "unit/cli/test_demo.py",
    "unit/commands/test_watch.py",
    "unit/demo/test_customers.py",
    "unit/infra/test_hostile_designs.py",
    "unit/lsp",
    "unit/mcp",
    "unit/migrations/test_interrupted.py",
    "unit/migrations/test_routed.py",
    "unit/migrations/test_served_migration.py",
    "unit/migrations/test_way_back.py",
    "unit/project",
    "unit/infra/test_names_in_programs.py",
    "unit/test_no_skips.py",
    "unit/testing/test_plugin_fixtures.py",
    "unit/testing/test_sandbox.py",
    "unit/wire/test_budget.py",
    "unit/wire/test_serve_command.py",
    "unit/work",
)
"""Two thirds of the suite's time, with single tests that are marked: for `make test-long`."""

# Terminals differ in width, and output is folded to it.
os.environ["COLUMNS"] = "100"

# Machines differ in speed: a property fails by its result, never by its time.
settings.register_profile(
    "keyfold", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "50"))
)
settings.load_profile("keyfold")


@cache
def _is_long(path: Path) -> bool:
    parents = [*path.parents]
    tests = [at for at in parents if at.name == "tests"]
    return any(path.is_relative_to(at / place) for at in tests for place in LONG)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make test` does not even import what it leaves out."""
    return (config.option.markexpr == "not long" and _is_long(collection_path)) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_long(item.path):
            item.add_marker(pytest.mark.long)


def pytest_collection_finish() -> None:
    """Our own modules are cached by now. Those that a test writes twice within a second must not
    be: the first would be found again."""
    sys.dont_write_bytecode = True


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
