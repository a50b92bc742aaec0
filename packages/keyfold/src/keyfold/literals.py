"""Values of strangers in programs that keyfold writes: always data, never code.

Every generator writes its literals with these functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal

WIDTH = 100

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def python(value: object, indent: int | None = None) -> str:
    """A text, a number, a boolean, None, bytes, or a collection of these as Python.

    Texts stand in double quotes. With `indent`, the column where the value begins a line, a
    collection that is too long for its line gets one line for each element.
    """
    if isinstance(value, str):
        return _SURROGATE.sub(
            lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False)
        )
    if value is None or isinstance(value, bool | int | float | Decimal | bytes):
        return repr(value)
    deeper = None if indent is None else indent + 4
    if isinstance(value, Mapping):
        pairs = [f"{python(key)}: {python(one, deeper)}" for key, one in value.items()]
        return _within("{", pairs, "}", indent)
    if isinstance(value, list):
        return _within("[", [python(one, deeper) for one in value], "]", indent)
    if isinstance(value, tuple):
        parts = [python(one, deeper) for one in value]
        return _within("(", parts, ",)" if len(parts) == 1 else ")", indent)
    if isinstance(value, set | frozenset) and value:
        return _within("{", sorted(python(one, deeper) for one in value), "}", indent)
    raise TypeError(f"{type(value).__name__} has no literal")


def _within(start: str, parts: list[str], end: str, indent: int | None) -> str:
    line = f"{start}{', '.join(parts)}{end}"
    if indent is None or not parts or ("\n" not in line and indent + len(line) <= WIDTH):
        return line
    inner = "".join(f"{' ' * (indent + 4)}{part},\n" for part in parts)
    return f"{start}\n{inner}{' ' * indent}{end.lstrip(',')}"


def docstring(text: str) -> str:
    """A text as the documentation of a module, class or function."""
    escaped = _UNPRINTABLE.sub(" ", text.replace("\\", "\\\\")).replace('"""', '\\"\\"\\"')
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    return f'"""{escaped}"""'


def terraform(text: str) -> str:
    """A text as Terraform in double quotes; what would be a template is not one."""
    return python(text).replace("${", "$${").replace("%{", "%%{")


def cloudformation(text: str) -> str:
    """A text within `Fn::Sub`, which leaves it as it is."""
    return text.replace("${", "${!")
