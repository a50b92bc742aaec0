"""The page of each rule: why, a wrong and a right example."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from keyfold.errors import KeyfoldError
from keyfold.review.check import RULES
from keyfold.review.check.rule import unknown_rule

_PYTHON = re.compile(r"^## In Python\n.*?^```python\n(?P<text>.*?)^```", re.S | re.M)
_EXAMPLE = re.compile(r"^## (?P<kind>Wrong|Right)\n+```yaml\n(?P<text>.*?)^```", re.S | re.M)


@dataclass(frozen=True)
class RulePage:
    """A rule's page as Markdown, with its examples as design files."""

    code: str
    text: str

    @property
    def wrong(self) -> str:
        return self._example("Wrong")

    @property
    def right(self) -> str:
        return self._example("Right")

    @property
    def python(self) -> str:
        """The right example as a declaration."""
        found = _PYTHON.search(self.text)
        assert found is not None, f"the page of {self.code} shows no Python"
        return found["text"]

    def _example(self, kind: str) -> str:
        return next(
            found["text"] for found in _EXAMPLE.finditer(self.text) if found["kind"] == kind
        )


def page(code: str) -> RulePage:
    """The page of a rule, by its code or name."""
    by_name = {rule.name: rule.code for rule in RULES.values()}
    wanted = by_name.get(code.lower(), code.upper())
    if wanted not in RULES:
        raise KeyfoldError(unknown_rule(code, [*RULES, *by_name]))
    folder = resources.files("keyfold.review.check") / "pages"
    return RulePage(wanted, (folder / f"{wanted}.md").read_text(encoding="utf-8"))
