"""The page of each rule: its words as data, why it matters, a wrong and a right example."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import resources
from typing import Any, cast

import yaml

from keyfold.errors import KeyfoldError
from keyfold.review.check.report import Severity
from keyfold.review.check.wording import Wording

_PYTHON = re.compile(r"^## In Python\n.*?^```python\n(?P<text>.*?)^```", re.S | re.M)
_EXAMPLE = re.compile(r"^## (?P<kind>Wrong|Right)\n+```yaml\n(?P<text>.*?)^```", re.S | re.M)
_HEAD = re.compile(
    r"(---\n(?P<words>.*?)^---\n)?"
    r"# (?P<code>\w+) (?P<name>\S+)\n\n(?P<title>.+)\. Severity: (?P<severity>\w+)\.\n",
    re.S | re.M,
)
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FOLDER = resources.files("keyfold.review.check") / "pages"


@dataclass(frozen=True)
class RulePage:
    """A rule's page as Markdown, with its examples as design files."""

    code: str
    source: str

    @cached_property
    def _head(self) -> re.Match[str]:
        found = _HEAD.match(self.source)
        assert found is not None, f"the page of {self.code} begins with its name and severity"
        return found

    @property
    def name(self) -> str:
        return self._head["name"]

    @property
    def title(self) -> str:
        return self._head["title"]

    @property
    def severity(self) -> Severity:
        return cast("Severity", self._head["severity"])

    @property
    def text(self) -> str:
        """What a reader sees, without the words as data."""
        return self.source[self._head.start("code") - 2 :]

    @cached_property
    def texts(self) -> dict[str, Wording]:
        """What findings say, by case."""
        words = yaml.load(self._head["words"], _LOADER)
        cases: dict[str, dict[str, Any]] = words.pop("cases", {"": {}})
        return {case: Wording(**deepcopy({**words, **own})) for case, own in cases.items()}

    @property
    def wrong(self) -> str:
        return self._example("Wrong")

    @property
    def right(self) -> str:
        return self._example("Right")

    @property
    def python(self) -> str:
        """The right example as a declaration."""
        found = _PYTHON.search(self.source)
        assert found is not None, f"the page of {self.code} shows no Python"
        return found["text"]

    def _example(self, kind: str) -> str:
        return next(
            found["text"] for found in _EXAMPLE.finditer(self.source) if found["kind"] == kind
        )


@cache
def read_page(code: str) -> RulePage:
    """The page of a rule that exists."""
    return RulePage(code, (_FOLDER / f"{code}.md").read_text(encoding="utf-8"))


def page(code: str) -> RulePage:
    """The page of a rule, by its code or name."""
    codes = sorted(path.name.removesuffix(".md") for path in _FOLDER.iterdir())
    if code.upper() in codes:
        return read_page(code.upper())
    by_name = {read_page(one).name: one for one in codes}
    if code.lower() not in by_name:
        raise KeyfoldError(unknown_rule(code, [*codes, *by_name]))
    return read_page(by_name[code.lower()])


def unknown_rule(code: str, known: Iterable[str]) -> str:
    """The message for an unknown code or name."""
    names = [*known]
    close = [one for one in names if one.casefold() == code.casefold()]
    close += get_close_matches(code, names, 1)
    hint = f"did you mean {close[0]!r}?" if close else "`keyfold rule` lists all of them"
    return f"unknown rule {code!r}; {hint}"
