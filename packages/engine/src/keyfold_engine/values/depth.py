"""How deep maps and lists are nested in wire values."""

from __future__ import annotations

from collections.abc import Mapping


def levels(value: object) -> int:
    """The deepest nesting of maps and lists in a value, or in a request's values."""
    deepest = 0
    # Iterative, because it must handle values that are too deep.
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
