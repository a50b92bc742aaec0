"""Generated key renderers: keys of plain text in one call, for values that need no second look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keyfold.design.formats import plain
from keyfold.design.template import DELIMITER, Literal

if TYPE_CHECKING:
    from keyfold.design.key_attribute import KeyAttribute

QuickKey = Callable[[Mapping[str, Any]], dict[str, Any] | None]


def compile_key(attributes: Sequence[KeyAttribute]) -> QuickKey | None:
    """A function that gives a whole wire key, or None where a value has to be looked at closely.

    A value is plain where it is text of ASCII alone, not empty and without the delimiter: then
    nothing in it can be refused or has to be escaped. None where the key is of another kind.
    """
    fields: dict[str, str] = {}
    members, limits = [], []
    for number, attribute in enumerate(attributes):
        text = []
        for part in attribute.template.parts:
            if isinstance(part, Literal) and part.text.isascii():
                text.append(repr(part.text))
            elif isinstance(part, Literal) or part.format.render is not plain:
                return None
            else:
                text.append(fields.setdefault(part.field, f"v{len(fields)}"))
        if attribute.type != "S" or not text:
            return None
        members.append(f"{attribute.attribute!r}: {{'S': t{number}}}")
        limits.append((f"t{number}", " + ".join(text), attribute.limit))
    lines = ["def render(values):"]
    for field, name in fields.items():
        lines += [
            f"    {name} = values.get({field!r})",
            f"    if type({name}) is not str or not {name} or not {name}.isascii() "
            f"or {DELIMITER!r} in {name} or '%' in {name}:",
            "        return None",
        ]
    for name, whole, limit in limits:
        lines += [f"    {name} = {whole}", f"    if len({name}) > {limit}:", "        return None"]
    lines.append(f"    return {{{', '.join(members)}}}")
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)
    found: QuickKey = namespace["render"]
    return found
