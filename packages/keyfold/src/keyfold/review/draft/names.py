"""Converts names of documents to Python names, and values to source text."""

from __future__ import annotations

import builtins
import keyword
import re
from functools import cache

from keyfold import Entity, literals

WIDTH = 100
STANDARD = {
    "datetime": "from datetime import datetime",
    "date": "from datetime import date",
    "Decimal": "from decimal import Decimal",
    "timedelta": "from datetime import timedelta",
    "Annotated": "from typing import Annotated",
    "Any": "from typing import Any",
    "Literal": "from typing import Literal",
    "BaseModel": "from pydantic import BaseModel",
}
"""What a declaration needs besides keyfold, with its import."""
OF_CLASSES = frozenset({"key", "self", *dir(Entity)})
"""What an entity's class uses itself."""
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
    if made[0].isdigit() or made.startswith(("model_dump", "model_validate")):
        made = f"n{made}"
    return f"{made}_" if keyword.iskeyword(made) or made in OF_CLASSES else made


def function(name: str) -> str:
    """A Python name for a function, which hides nothing that the module uses."""
    made = field(name)
    return f"{made}_" if made in reserved() else made


def title(name: str) -> str:
    """A name for an entity of a design file."""
    made = "".join(word.capitalize() for word in words(name)) if not _is_class(name) else name
    return f"N{made}" if made[0].isdigit() else made


def class_name(name: str) -> str:
    """A Python name for a class, which hides nothing that the module uses."""
    made = title(name)
    return f"{made}_" if made in reserved() or keyword.iskeyword(made) else made


@cache
def reserved() -> frozenset[str]:
    """What a declaration imports or takes from Python, and its own variables."""
    ours = (name for names in exported().values() for name in names)
    return frozenset({*ours, *dir(builtins), *STANDARD, "design", "table"})


@cache
def exported() -> dict[str, list[str]]:
    """The names that a declaration imports from keyfold, by module; no draft has a feed."""
    import keyfold

    others = {home: names for home, names in keyfold.MODULES.items() if home != "keyfold.feeds"}
    return {"keyfold": keyfold.__all__, **others}


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
