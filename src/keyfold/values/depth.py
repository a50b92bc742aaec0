"""How deep maps and lists are nested in wire values."""

from __future__ import annotations

from collections.abc import Mapping


def levels(value: object) -> int:
    """The most maps and lists around anything in a value, or in the values of a request."""
    deepest = 0
    # Without recursion: what is too deep is what this is asked about.
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        content, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(content, list):
            waiting.extend((each, depth) for each in content)
        elif isinstance(content, Mapping):
            for kind, each in content.items():
                if kind == "M" and isinstance(each, Mapping):
                    deepest = max(deepest, depth + 1)
                    waiting.extend((entry, depth + 1) for entry in each.values())
                elif kind == "L" and isinstance(each, list):
                    waiting.append((each, depth + 1))
                else:
                    waiting.append((each, depth))
    return deepest
