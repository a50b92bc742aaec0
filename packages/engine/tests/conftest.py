"""Every response that a test of the engine gets has the shape of the service model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.responses import differences

from keyfold_engine.engine.calls import Calls


@pytest.fixture(scope="session", autouse=True)
def compared_responses() -> Iterator[None]:
    """RESPONSE_MEMBERS names a file for the members that have come."""
    seen: set[str] = set()
    call = Calls.call

    def compared(self: Calls, operation: str, *args: Any, **options: Any) -> dict[str, Any]:
        response = call(self, operation, *args, **options)
        assert list(differences(operation, response, seen)) == []
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Calls, "call", compared)
        yield
    if path := os.environ.get("RESPONSE_MEMBERS"):
        Path(path).write_text("\n".join(sorted(seen)))
