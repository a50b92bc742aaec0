"""Key templates in other tools' notation: `USER#${id}` of JavaScript."""

from __future__ import annotations

import re
from collections.abc import Mapping

from keyfold_workbench.adopt.sources.material import SourceError
from keyfold.design.formats import parse_format
from keyfold.design.schema import AttributeSchema
from keyfold.design.source import Place
from keyfold.design.template import Literal, Part, Slot, Template

_SLOT = re.compile(r"\$\{([^{}]+)\}")
_PADDED = re.compile(r"([\w.]+):(\d+):0")


def template_of(
    text: str, held: Mapping[str, AttributeSchema], what: str, place: Place
) -> Template:
    """Parses the template; `${number:6:0}` is a number of six digits."""
    parts: list[Part] = []
    end = 0
    for match in _SLOT.finditer(text):
        if match.start() > end:
            parts.append(Literal(text[end : match.start()]))
        parts.append(_slot(match[1], held, what, place))
        end = match.end()
    if end < len(text):
        parts.append(Literal(text[end:]))
    return Template(tuple(parts) or (Literal(""),))


def _slot(name: str, held: Mapping[str, AttributeSchema], what: str, place: Place) -> Slot:
    padded = _PADDED.fullmatch(name)
    wanted = padded[1] if padded else name
    attribute = held.get(wanted)
    if attribute is None:
        known = ", ".join(held) or "none"
        raise SourceError(
            place, f"{what} names {wanted!r}, which is not an attribute; use one of {known}"
        )
    format_ = ""
    if padded:
        format_ = f"0{padded[2]}d"
    elif attribute.type in ("number", "decimal"):
        format_ = "d"
    elif attribute.type == "timestamp":
        format_ = attribute.stored
    return Slot(attribute.field, parse_format(format_))
