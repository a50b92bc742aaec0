"""The studio's styles."""

from __future__ import annotations

import re
from importlib.resources import files


def test_colours_are_those_of_all_pages() -> None:
    shared = (files("keyfold_web.pages") / "assets/colours.css").read_text()
    own = (files("keyfold_workbench.studio") / "assets/studio.css").read_text()
    named = set(re.findall(r"^ *(--[\w-]+):", shared, re.MULTILINE))
    assert {"--bg", "--text", "--accent"} <= named
    assert not named & set(re.findall(r"(--[\w-]+):", own))
    assert "light-dark(" not in own
