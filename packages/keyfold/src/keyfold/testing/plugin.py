"""The pytest plugin: a sandbox, a design opened in it, and a marker with its options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from keyfold.runtime import Db, Design
    from keyfold.testing.sandbox import Sandbox

MARKER = (
    "sandbox(start=, index_lag=, throttle=, conflict=, ...): what keyfold's sandbox is like in "
    "this test; the arguments are those of keyfold.testing.Sandbox"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("keyfold_design", "the design of keyfold_db: package.module:design")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def keyfold_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A fresh embedded engine with a manual clock; see keyfold.testing.Sandbox."""
    # Sessions that do not use the fixture import nothing of keyfold.
    from keyfold.testing.sandbox import Sandbox

    options: dict[str, object] = {}
    for marker in reversed(list(request.node.iter_markers("sandbox"))):
        if marker.args:
            raise pytest.UsageError(
                f"@pytest.mark.sandbox takes named arguments, not {marker.args}"
            )
        options |= marker.kwargs
    try:
        made = Sandbox(**options)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"@pytest.mark.sandbox: {error}") from error
    with made:
        yield made


@pytest.fixture
def sandbox(keyfold_sandbox: Sandbox) -> Sandbox:
    """Short name of `keyfold_sandbox`."""
    return keyfold_sandbox


@pytest.fixture
def keyfold_design(request: pytest.FixtureRequest) -> Design:
    """The design that `keyfold_db` opens: from the ini option, unless a project overrides it."""
    named = str(request.config.getini("keyfold_design"))
    if not named:
        raise pytest.UsageError(
            'keyfold_db needs a design: set keyfold_design = "package.module:design" in pytest\'s '
            "options, or write a fixture keyfold_design that returns it"
        )
    from keyfold.design.target import load_design
    from keyfold.runtime import Design

    found = load_design(named)
    assert isinstance(found, Design), f"{named} is a design that runs"
    return found


@pytest.fixture
def keyfold_db(keyfold_sandbox: Sandbox, keyfold_design: Design) -> Db:
    """The design, opened in the test's sandbox."""
    return keyfold_sandbox.open(keyfold_design)
