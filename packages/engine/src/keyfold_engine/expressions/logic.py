"""The grammar of OR, AND and NOT, which expressions and PartiQL share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from keyfold_engine.expressions.ast import And, Condition, Not, Operand, Or

T = TypeVar("T")


class Logic(ABC):
    """The part of a parser between a whole condition and its comparisons.

    A parenthesis may hold a condition or an operand, which shows only after it. So these return
    either, and `_require_condition` decides where it matters.
    """

    _tokens: list[Any]
    """Each with its `kind`; the last one is the end."""
    _at: int
    _depth: int

    def _stands_at(self, kind: str) -> bool:
        return bool(self._tokens[self._at].kind == kind)

    def _take(self, kind: str) -> bool:
        if self._tokens[self._at].kind != kind:
            return False
        self._at += 1
        return True

    def _comma_list(self, one: Callable[[], T]) -> list[T]:
        found = [one()]
        while self._take(","):
            found.append(one())
        return found

    @abstractmethod
    def _deeper(self) -> None: ...
    @abstractmethod
    def _comparison(self) -> Condition | Operand: ...
    @abstractmethod
    def _require_condition(self, node: Condition | Operand) -> Condition: ...

    def _alternatives(self) -> Condition | Operand:
        first = self._conjunction()
        if not self._stands_at("OR"):
            return first
        terms = [self._require_condition(first)]
        while self._take("OR"):
            terms.append(self._require_condition(self._conjunction()))
        return Or(tuple(terms))

    def _conjunction(self) -> Condition | Operand:
        first = self._negation()
        if not self._stands_at("AND"):
            return first
        terms = [self._require_condition(first)]
        while self._take("AND"):
            terms.append(self._require_condition(self._negation()))
        return And(tuple(terms))

    def _negation(self) -> Condition | Operand:
        if not self._take("NOT"):
            return self._comparison()
        self._deeper()
        term = self._require_condition(self._negation())
        self._depth -= 1
        return Not(term)
