"""Texts of strangers in programs that keyfold writes: always data, never code."""

from __future__ import annotations

import json
import re

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def python(text: str) -> str:
    """A text as Python in double quotes."""
    return _SURROGATE.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


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
