"""Rules: where one looks, and which elements it finds there; its page has the words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any, Protocol

from keyfold.design.schema import Place, Placement, Silence
from keyfold.review.check.page import RulePage, read_page
from keyfold.review.check.reach import Reach
from keyfold.review.check.report import Fix as Fix
from keyfold.review.check.report import Severity
from keyfold.review.check.wording import Wording, Words


class Element(Protocol):
    """Any part of a design that a finding can concern."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> Place: ...

    @property
    def silences(self) -> tuple[Silence, ...]: ...


@dataclass(frozen=True)
class Found:
    """What a rule found: elements by name. `said` is None where the design does not say it."""

    case: str = ""
    said: object = True
    elements: Mapping[str, Any] = field(default_factory=dict)


def hit(case: str = "", *, said: object = True, **elements: Any) -> Found:
    """The elements that the page's words of a case name."""
    return Found(case, said, elements)


Result = bool | Found | None | Iterable[Found]


@dataclass(frozen=True)
class Domain:
    """Where a rule looks: rows of elements, with their names."""

    names: str
    rows: Callable[[Reach], Iterable[Any]]


@dataclass(frozen=True)
class Defect:
    """What a rule found wrong with an element, in words; `within` are its parents."""

    element: Element
    message: str
    suggestion: str
    within: tuple[Element, ...] = ()
    severity: Severity | None = None
    """If not the rule's own: `question` for what the design does not say."""
    cause: str = ""
    """Defects of one rule with one cause are one finding."""
    fix: Fix | None = None
    subject: str = ""
    """If not the element's name."""
    elements: tuple[object, ...] = ()
    """What else the finding names."""

    @property
    def about(self) -> str:
        """The subject: `Order`, or `Order on ByCustomer` for a placement."""
        if isinstance(self.element, Placement) and not self.subject:
            return f"{self.within[0].name} on {self.element.index}"
        return self.subject or self.element.name


@dataclass(frozen=True)
class DesignRule:
    """A rule of the catalogue."""

    code: str
    over: Domain
    looks: FunctionType
    """Takes the elements of a row, and `facts`, by name: those that it needs."""
    enforced: bool = True
    """Whether it applies to designs that keyfold itself runs."""

    @cached_property
    def family(self) -> str:
        return self.code.rstrip("0123456789")

    @cached_property
    def order(self) -> tuple[int, int]:
        return "KQXWSGMDL".index(self.family), int(self.code[len(self.family) :])

    @property
    def page(self) -> RulePage:
        return read_page(self.code)

    @property
    def name(self) -> str:
        return self.page.name

    @property
    def severity(self) -> Severity:
        return self.page.severity

    @property
    def title(self) -> str:
        return self.page.title

    def check(self, facts: Reach) -> Iterator[Defect]:
        """What is wrong with a design, by this rule."""
        if facts.schema.enforced and not self.enforced:
            return
        names = ("facts", *self.over.names.split())
        code = self.looks.__code__
        taken = [names.index(name) for name in code.co_varnames[: code.co_argcount]]
        for row in self.over.rows(facts):
            given = (facts, *row) if len(names) > 2 else (facts, row)
            result = self.looks(*map(given.__getitem__, taken))
            for one in _each(result) if result else ():
                elements = dict(zip(names, given, strict=True))
                yield _defect(self.page.texts[one.case], one, elements)


def _each(result: bool | Found | Iterable[Found]) -> Iterable[Found]:
    if isinstance(result, Found):
        return (result,)
    return (Found(),) if isinstance(result, bool) else result


def _defect(text: Wording, found: Found, elements: Mapping[str, Any]) -> Defect:
    words = Words({**elements, **found.elements})
    asked = found.said is None or not text.says
    at, *within = (words.elements(name) for name in text.at.split())
    return Defect(
        at[0],
        words(text.asks or text.says if asked else text.says),
        words(text.fix),
        tuple(one for several in within for one in several),
        severity="question" if asked else text.severity,
        cause=words(text.topic if asked and text.topic else text.cause),
        fix=Fix(*map(words, text.edit)) if text.edit and not asked else None,
        subject=words(text.subject),
        elements=tuple(found.elements.values()),
    )


RULES: dict[str, DesignRule] = {}


def rule(
    code: str, over: Domain, *, enforced: bool = True
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Register a rule; its page has its name, severity and words."""

    def register(looks: Callable[..., Result]) -> Callable[..., Result]:
        if code in RULES:
            raise ValueError(f"the rule {code} is registered twice")
        assert isinstance(looks, FunctionType), f"{code} is a function"
        RULES[code] = DesignRule(code, over, looks, enforced)
        return looks

    return register
