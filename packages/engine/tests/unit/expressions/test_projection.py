from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.expressions.projection import project
from keyfold_engine.values.codec import decode_item, encode_item

ITEM = {"a": 1, "m": {"x": {"y": 1, "z": 2}, "w": 3}, "l": [10, {"k": 11, "j": 0}, [12, 13]]}


@pytest.mark.parametrize(
    ("text", "projected"),
    [
        ("a", {"a": 1}),
        ("a, nope", {"a": 1}),
        ("m", {"m": ITEM["m"]}),
        ("m.x.y", {"m": {"x": {"y": 1}}}),
        ("m.x.y, m.w", {"m": {"x": {"y": 1}, "w": 3}}),
        ("m.nope.y", {}),
        ("m[0]", {}),
        ("l[0]", {"l": [10]}),
        ("l[2][1], l[0]", {"l": [10, [13]]}),
        ("l[1].k", {"l": [{"k": 11}]}),
        ("l[9]", {}),
        ("l.x", {}),
        ("a.b", {}),
    ],
)
def test_projections(text: str, projected: dict[str, Any]) -> None:
    paths = Placeholders().projection(text)
    assert decode_item(project(paths, encode_item(ITEM))) == projected
