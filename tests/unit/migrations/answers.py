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
        text = re.sub(
            r"^( *)undecided\(.*$", lambda m, a=offered[1]: f"{m[1]}{a},", text, count=1, flags=re.M
        )
    plan.write_text(text)
