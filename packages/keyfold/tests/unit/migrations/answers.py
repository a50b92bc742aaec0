"""Plans answered the way that people answer them: a line that is offered takes the place."""

from __future__ import annotations

import re
from pathlib import Path


def answer(plan: Path, *words: str) -> None:
    """Put the offered answers that begin with these words in the places of the questions."""
    text = plan.read_text()
    for word in words:
        offered = re.search(rf"^ *#     ({word}\(.*),$", text, re.M)
        assert offered, f"{plan.name} does not offer {word}"
        asked = re.search(r"^( *)undecided\(.*$", text, re.M)
        assert asked, f"{plan.name} asks nothing more"
        text = text.replace(asked[0], f"{asked[1]}{offered[1]},", 1)
    plan.write_text(text)
