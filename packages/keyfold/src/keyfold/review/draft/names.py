"""Converts names of documents to Python names, and values to source text."""

from __future__ import annotations

import keyword
import re

from keyfold import literals

WIDTH = 100
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


def words(name: str) -> list[str]:
    """The words of `createdAt`, `USER_PROFILE` or `Get room by ID`."""
    found: list[str] = []
    for part in re.split(r"[^A-Za-z0-9]+", name.replace("'", "")):
        found += [part] if part.isupper() else _WORDS.findall(part)
    return [word.lower() for word in found if word] or ["unnamed"]


def field(name: str) -> str:
    """A Python name for a field, function or variable."""
    made = "_".join(words(name))
    if made[0].isdigit():
        made = f"n{made}"
    return f"{made}_" if keyword.iskeyword(made) else made


def class_name(name: str) -> str:
    made = "".join(word.capitalize() for word in words(name)) if not _is_class(name) else name
    return f"N{made}" if made[0].isdigit() else made


def _is_class(name: str) -> bool:
    return name.isidentifier() and name[0].isupper() and not name.isupper() and "_" not in name


def quoted(text: str) -> str:
    """A text as the formatter would write it."""
    return literals.python(text)


def call(start: str, arguments: list[str], *, indent: int = 0, tail: str = "") -> str:
    """`start(arguments)`, on one line where it fits."""
    room = " " * indent
    line = f"{start}({', '.join(arguments)}){tail}"
    if indent + len(line) <= WIDTH:
        return f"{room}{line}"
    together = ", ".join(arguments)
    if indent + 4 + len(together) <= WIDTH:
        return f"{room}{start}(\n{room}    {together}\n{room}){tail}"
    inner = "".join(f"{room}    {argument},\n" for argument in arguments)
    return f"{room}{start}(\n{inner}{room}){tail}"
