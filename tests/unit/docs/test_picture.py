"""The code in the picture of the README runs as it is drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.parts import ROOT

import keyfold

PICTURES = sorted((ROOT / "docs" / "_static").glob("picture*.svg"))
TEXT = "{http://www.w3.org/2000/svg}text"


def drawn_code(picture: Path) -> str:
    """The lines of code in the drawing, from top to bottom: the declaration, then the write."""
    lines = ["".join(text.itertext()) for text in ElementTree.parse(picture).iter(TEXT)]
    first = next(at for at, line in enumerate(lines) if line.startswith("class "))
    code = [line for line in lines[first:] if re.match(r"class |    |db\.", line)]
    return "\n".join(code)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_the_drawn_code_updates_an_item_and_its_two_copies(picture: Path) -> None:
    design = keyfold.Design("hangouts")
    names: dict[str, Any] = {name: getattr(keyfold, name) for name in keyfold.__all__}
    names |= {"table": design.table("Hangouts"), "__name__": __name__}
    declaration, _, write = drawn_code(picture).partition("db.")
    exec(compile(declaration, picture, "exec", dont_inherit=True), names)
    hike = names["Hangout"](id="h7", title="Hike", groups={"oslo", "bergen"})
    with design.open(":memory:") as db:
        db.create_tables()
        db.create(hike)
        exec(f"db.{write}", {"db": db, "hike": hike})
        copies = list(db.scan(names["GroupHangout"]))
    assert {(copy.group, copy.title) for copy in copies} == {
        ("oslo", "Night hike"),
        ("bergen", "Night hike"),
    }


@pytest.mark.parametrize("theme", ["", "-dark"])
def test_every_picture_has_a_narrow_one(theme: str) -> None:
    assert {f"picture{theme}", f"picture-narrow{theme}"} <= {path.stem for path in PICTURES}
