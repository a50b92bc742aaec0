"""Evidence: a concrete example for a finding. Keys, steps in time or amounts, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """An example: rows of cells under a heading, and the conclusion."""

    head: str
    rows: tuple[tuple[str, ...], ...]
    so: str = ""

    @property
    def sentence(self) -> str:
        """The example in one line."""
        rows = "; ".join(" ".join(cell for cell in row if cell) for row in self.rows)
        told = f"{self.head}: {rows}" if self.head else rows
        return f"{told}: {self.so}" if self.so else told

    def lines(self) -> Iterator[str]:
        """The rows, with their cells in columns."""
        widths = [max(map(len, cells)) for cells in zip(*self.rows, strict=True)]
        for row in self.rows:
            yield "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()


def keys_example(head: str, *rows: tuple[str, str], so: str = "") -> Evidence:
    """Keys or values, with a description of each."""
    return Evidence(head, rows, so)


def steps_example(*steps: str, so: str = "") -> Evidence:
    """Steps in a possible order."""
    return Evidence("", tuple((f"{n}.", step) for n, step in enumerate(steps, 1)), so)


def sum_example(
    head: str, terms: Iterable[tuple[str, float, float]], limit: str, unit: str
) -> Evidence:
    """A sum of amounts compared with a limit."""
    rows, whole = [], 0.0
    for what, count, each in terms:
        whole += count * each
        rows.append((what, f"{amount(count)} × {amount(each)}", f"= {amount(count * each)}"))
    return Evidence(head, tuple(rows), f"{amount(whole)} {unit}; {limit}")


def many(count: int, word: str) -> str:
    """`1 request`, `2 requests`."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def amount(number: float) -> str:
    """A number as people read it."""
    return f"{number:,.0f}" if number == int(number) else f"{number:,g}"
