"""Generated key renderers: keys of plain text in one call, for values that need no checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keyfold.design.formats import text_of
from keyfold.design.template import DELIMITER, Literal

if TYPE_CHECKING:
    from keyfold.design.key_attribute import KeyAttribute

KeyRenderer = Callable[[Mapping[str, Any]], dict[str, Any]]


def compile_key(attributes: Sequence[KeyAttribute], careful: KeyRenderer) -> KeyRenderer:
    """A function that renders a whole wire key, and leaves values that need checks to `careful`.

    A value needs none if it is non-empty ASCII text without the delimiter and without the first
    character of what ends it: nothing in it can be refused or needs escaping. Other kinds of keys
    are all left to `careful`.
    """
    fields: dict[str, str] = {}
    marks: dict[str, str] = {}
    members, limits = [], []
    for number, attribute in enumerate(attributes):
        text = []
        for part in attribute.template.parts:
            if isinstance(part, Literal) and part.text.isascii():
                text.append(repr(part.text))
            elif isinstance(part, Literal) or part.format.render is not text_of:
                return careful
            else:
                text.append(fields.setdefault(part.field, f"v{len(fields)}"))
                end = attribute.template.ends.get(part, DELIMITER)[0]
                marks[part.field] = marks.get(part.field, DELIMITER) + end
        if attribute.type != "S" or not text:
            return careful
        members.append(f"{attribute.attribute!r}: {{'S': t{number}}}")
        limits.append((f"t{number}", " + ".join(text), attribute.limit))
    lines = ["def render(values):"]
    for field, name in fields.items():
        lines += [
            f"    {name} = values.get({field!r})",
            f"    if type({name}) is not str or not {name} or not {name}.isascii() "
            + "".join(f"or {one!r} in {name} " for one in sorted({*marks[field], "%"}))
            + ":",
            "        return careful(values)",
        ]
    for name, whole, limit in limits:
        lines += [f"    {name} = {whole}", f"    if len({name}) > {limit}:"]
        lines += ["        return careful(values)"]
    lines.append(f"    return {{{', '.join(members)}}}")
    namespace: dict[str, Any] = {"careful": careful}
    exec("\n".join(lines), namespace)
    found: KeyRenderer = namespace["render"]
    return found
