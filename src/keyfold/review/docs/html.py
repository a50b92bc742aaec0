"""A design document as one HTML file: self-contained, light and dark, printable."""

from __future__ import annotations

import re
from html import escape
from importlib import resources

from keyfold.review.docs.blocks import (
    Block,
    Code,
    Document,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Section,
    Sentences,
)

_MARKUP = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\((#[^)]+)\)")
_SLOT = re.compile(r"(\{\w[\w:]*\})")
_SEVERITIES = {"error", "warning", "note"}


FOOTER = "Written by keyfold docs from the design itself."


def html(document: Document, *, footer: str = FOOTER) -> str:
    style = (resources.files("keyfold.review.docs") / "page.css").read_text(encoding="utf-8")
    menu = "".join(_entry(section) for section in document.sections)
    body = "".join(_section(section) for section in document.sections)
    title = escape(document.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>{style}</style></head><body>"
        f'<nav aria-label="Contents"><a class="brand" href="#top">{title}</a><ul>{menu}</ul></nav>'
        f'<main id="top"><header><h1>{title}</h1><p class="summary">{_inline(document.summary)}</p>'
        f"</header>{body}<footer>{escape(footer)}</footer></main>"
        "</body></html>\n"
    )


def _entry(section: Section) -> str:
    return f'<li><a href="#{section.anchor}">{escape(section.title)}</a></li>'


def _section(section: Section) -> str:
    blocks = "".join(_block(block) for block in section.blocks)
    title = escape(section.title)
    return f'<section id="{section.anchor}"><h2>{title}</h2>{blocks}</section>'


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Heading):
        return f'<h3 id="{block.anchor}">{escape(block.text)}</h3>'
    if isinstance(block, Sentences):
        return f"<ul>{''.join(f'<li>{_inline(each)}</li>' for each in block.sentences)}</ul>"
    if isinstance(block, Code):
        return f"<pre><code>{_slots(escape(block.text))}</code></pre>"
    if isinstance(block, Picture):
        told = _inline(block.caption)
        caption = f"<figcaption>{told}</figcaption>" if told else ""
        return f'<figure><div class="scroll">{block.svg}</div>{caption}</figure>'
    return _table(block)


def _table(table: Grid) -> str:
    kinds = [' class="figure"' if table.is_numeric(n) else "" for n in range(len(table.head))]
    head = "".join(
        f"<th{kind}>{escape(name)}</th>" for name, kind in zip(table.head, kinds, strict=True)
    )
    rows = "".join(
        f"<tr>{''.join(_cell(*each) for each in zip(row, kinds, strict=True))}</tr>"
        for row in table.rows
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def _cell(text: str, kind: str) -> str:
    if text in _SEVERITIES:
        return f'<td><span class="severity {text}">{text}</span></td>'
    return f"<td{kind}>{_inline(text)}</td>"


def _inline(text: str) -> str:
    out, end = [], 0
    for found in _MARKUP.finditer(text):
        out.append(escape(text[end : found.start()]))
        code, strong, label, target = found.groups()
        if code is not None:
            out.append(f"<code>{_slots(escape(code))}</code>")
        elif strong is not None:
            out.append(f"<strong>{escape(strong)}</strong>")
        else:
            out.append(f'<a href="{escape(target)}">{escape(label)}</a>')
        end = found.end()
    return "".join([*out, escape(text[end:])])


def _slots(text: str) -> str:
    """Highlights values in keys."""
    return _SLOT.sub(r'<span class="slot">\1</span>', text)
