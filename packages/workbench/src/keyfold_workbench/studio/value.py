"""A stored value on a page: a tree for maps and lists, size and beginning for binary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyfold.design.schema import AttributeSchema
from keyfold_workbench.studio.items import binary, plain, value_text
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import plural
from keyfold_workbench.studio.parts import link

MOST: Final = 100
"""The entries of a map or list that are shown."""
PREVIEW: Final = 48
TYPES: Final = {
    "S": "string",
    "N": "number",
    "BOOL": "boolean",
    "NULL": "null",
    "B": "binary",
    "SS": "set of texts",
    "NS": "set of numbers",
    "BS": "set of binary",
}
BEGINS: Final = (
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x1f\x8b", "gzip"),
)


def value_tree(value: Mapping[str, Any], attribute: AttributeSchema | None, download: str) -> Html:
    """A wire value; `download` is where the bytes of a binary are."""
    ((kind, content),) = value.items()
    if kind in ("M", "L") and content:
        return el("div.tree", _tree(None, value, is_open=True))
    if kind == "B":
        return _binary(binary(content), download)
    if kind == "BS":
        return text(value_line(value))
    return el("bdi", value_text(plain(value), attribute))


def value_line(value: Mapping[str, Any]) -> str:
    """What a wire value is, in a few words."""
    ((kind, content),) = value.items()
    if kind == "M":
        return f"map, {plural(len(content), 'field')}"
    if kind == "L":
        return f"list of {len(content)}"
    if kind in ("B", "BS"):
        held = [content] if kind == "B" else content
        return ", ".join(plural(len(binary(one)), "byte") for one in held)
    return value_text(plain(value))


def _tree(name: str | None, value: Mapping[str, Any], *, is_open: bool = False) -> Html:
    ((kind, content),) = value.items()
    label: Child = None if name is None else (el("bdi.n", name), " ")
    if kind not in ("M", "L"):
        return text(label, el("bdi", value_line(value)), el("span.ty", TYPES[kind]))
    entries = list(content.items()) if kind == "M" else list(enumerate(content))
    held = [el("li", _tree(str(at), one)) for at, one in entries[:MOST]]
    if len(entries) > MOST:
        held.append(el("li.muted", f"{len(entries) - MOST:,} more: see Wire JSON"))
    summary = el("summary", label, el("span.ty", value_line(value)))
    return el("details", summary, el("ul", held), open=is_open)


def _binary(content: bytes, download: str) -> Html:
    named = next((name for begin, name in BEGINS if content.startswith(begin)), "")
    says = plural(len(content), "byte") + (f", {named} by its first bytes" if named else "")
    rows = (content[at : at + 16] for at in range(0, min(len(content), PREVIEW), 16))
    lines = "\n".join(f"{at * 16:08x}  {row.hex(' ')}" for at, row in enumerate(rows))
    return text(
        el("span", says, " ", link(download, "Download", class_="link", download=True)),
        el("pre.hex", lines, tabindex="0") if lines else None,
    )
