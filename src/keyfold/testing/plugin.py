"""The pytest plugin: the fixture `sandbox`, and the marker that says what it is like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from keyfold.testing.sandbox import Sandbox

MARKER = (
    "sandbox(start=, index_lag=, throttle=, conflict=, ...): what keyfold's sandbox is like in "
    "this test; the arguments are those of keyfold.testing.Sandbox"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A fresh embedded engine with a clock that stands still; see keyfold.testing.Sandbox."""
    # Sessions that do not use the fixture load nothing of keyfold.
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
    except TypeError as error:
        raise pytest.UsageError(f"@pytest.mark.sandbox: {error}") from error
    with made:
        yield made
