"""JavaScript clients against `keyfold serve`."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("script", ["sdk_v3.cjs", "electrodb.cjs"])
def test_a_javascript_client_goes_through_its_day(
    run_node: Callable[[str, str], str], keyfold_url: str, script: str
) -> None:
    assert run_node(script, keyfold_url) == "done\n"
