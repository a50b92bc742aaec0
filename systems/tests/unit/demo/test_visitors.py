"""Visitors of the demo."""

from __future__ import annotations

from keyfold_demo.visitors import VisitorTokens
from keyfold_web import Identity


async def test_a_visitor_may_have_any_name() -> None:
    tokens = VisitorTokens([Identity.of("ada.l", "admin")])
    assert (await tokens.identity("ada.l")).is_admin
    for name in ("j.r.r", "eyJ", "x.y"):
        assert (await tokens.identity(name)).id == name
    assert (await tokens.identity(tokens.issue("mia"))).id == "mia"
