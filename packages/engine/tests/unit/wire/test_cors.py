"""Which pages of other origins may ask."""

from __future__ import annotations

from keyfold_engine.wire.cors import allows


def test_origins_are_compared_whole_and_without_their_port() -> None:
    listed = ("https://tools.example",)
    assert allows(listed, "https://tools.example")
    assert allows(listed, "https://tools.example:8443")
    assert not allows(listed, "http://tools.example")
    assert not allows(listed, "https://tools.example.evil")
    assert not allows(listed, "null")
    assert allows(("*",), "https://anything")
