"""HTML as values: text is escaped on entry; only markup built here is inserted unescaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

VOID = frozenset({"input", "link", "meta", "br", "wbr"})
DRAWN = frozenset({"rect", "path", "circle"})
"""SVG elements, which are self-closing."""


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = str | int | float | bool | None


def text(*children: Child) -> Html:
    """Children, one after another, each escaped unless it is markup."""
    return Html("".join(_written(child) for child in children))


def _written(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(child)
    if isinstance(child, int | float):
        return str(child)
    return "".join(_written(inner) for inner in child)


def el(kind: str, *children: Child, **attributes: Attribute) -> Html:
    """An element: `el("div.panel.pad", ...)` is a div of two classes. `class_` adds others,
    `data_of` is its data-of, True an attribute alone. A button does nothing unless it says more.
    """
    tag, *classes = kind.split(".")
    if tag == "button":
        attributes.setdefault("type", "button")
    if classes:
        more = attributes.get("class_") or ""
        attributes["class_"] = " ".join(filter(None, (*classes, str(more))))
    given = "".join(
        _attribute(name, value)
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in VOID:
        return Html(f"<{tag}{given}>")
    if tag in DRAWN:
        return Html(f"<{tag}{given}/>")
    return Html(f"<{tag}{given}>{text(*children)}</{tag}>")


def _attribute(name: str, value: Attribute) -> str:
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{escape(str(value))}"'
