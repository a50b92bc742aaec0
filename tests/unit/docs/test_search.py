"""What the site's search puts first and last."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
SCORER = (DOCS / "_static" / "scorer.js").read_text("utf-8")


def pages_of(name: str) -> re.Pattern[str]:
    found = re.search(rf"\n  {name}: /(.+)/,\n", SCORER)
    assert found
    return re.compile(found[1].replace(r"\/", "/"))


def listed(page: str) -> list[str]:
    blocks = re.findall(r"```{toctree}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def test_everything_about_keyfold_itself_comes_last() -> None:
    about = listed("about.md")
    assert about
    last = pages_of("about")
    assert [page for page in ["about", *about] if not last.match(page)] == []
    others = [f"guide/{page}" for page in listed("guide/index.md")]
    assert [page for page in [*others, "quickstart", "rules/K1"] if last.match(page)] == []


def test_the_guide_comes_before_the_reference() -> None:
    first = pages_of("guide")
    assert [page for page in ("start", "quickstart", "guide/cost") if not first.match(page)] == []
    assert [page for page in ("reference/cli", "rules/K1", "about") if first.match(page)] == []


def test_each_word_that_readers_search_for_leads_to_a_page() -> None:
    words = tomllib.loads((DOCS / "_ext" / "search_words.toml").read_text("utf-8"))
    assert words
    assert [page for page in words if not (DOCS / f"{page}.md").is_file()] == []
    every = [word.lower() for group in words.values() for word in group]
    assert sorted(every) == sorted(set(every))
