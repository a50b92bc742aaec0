"""The document: its lines with their marks, what is asked about them, and the design so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from starlette.responses import RedirectResponse, Response

from keyfold.design.file import dumps
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.document.answers import with_answer
from keyfold_workbench.adopt.document.design import DocumentDesign, design_of
from keyfold_workbench.adopt.document.statements import AttributeStatement, KeyStatement, Mark
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import count, plural
from keyfold_workbench.studio.parts import (
    banner,
    code,
    empty,
    head,
    link,
    panel,
    state,
    stats,
    tabs,
)
from keyfold_workbench.studio.view import NotWritable, PageMissing, PageView

MARKS: dict[Mark, tuple[str, str]] = {
    "read": ("ok", "u"),
    "question": ("run", "q"),
    "not understood": ("warn", "z"),
    "contradicts": ("bad", "x"),
}
"""The state of each mark, and the class of a line with it."""
LINES = 4_000
"""A longer document is shown up to here."""


def document(view: PageView, problem: str = "", line: int = 0) -> Html:
    """The text with marks on the left; questions and the design on the right."""
    path = _path(view)
    written = path.read_text(encoding="utf-8")
    found = design_of(written, path.name)
    shown = replace(view.system, schema=found.schema)
    view = replace(view, systems={**view.systems, shown.slug: shown})
    says = "Answers are written into the document, as comments that no reader of it sees."
    return view.page(
        "Document",
        head(text("What keyfold reads in ", el("code", path.name)), says),
        banner("warn", problem) if problem else None,
        el("div.stack", _figures(found)),
        el(
            "div.reading",
            _source(found, path.name),
            el("div.stack", _questions(view, found, written, line), _design(view, found)),
        ),
        current="document",
    )


def answer_line(view: PageView) -> Html | Response:
    """Write an answer into the document, where the line that it is about has not changed."""
    if not view.system.writable:
        raise NotWritable("The document cannot be changed here: the studio is read-only.")
    path = _path(view)
    written = path.read_text(encoding="utf-8")
    given = view.form.get("line", "")
    line = int(given) if given.isdecimal() else 0
    if view.form.get("digest") != _digest(written):
        return document(view, "The document has changed. Read the question again.", line)
    said = view.form.get("said", "")
    said = view.form.get("statement", "").strip() if said == "statement" else said
    try:
        if not said:
            raise KeyfoldError("Choose an answer, or write a statement.")
        answered = with_answer(written, line, said)
        design_of(answered, path.name)
    except KeyfoldError as refused:
        return document(view, str(refused), line)
    path.write_text(answered, encoding="utf-8")
    return RedirectResponse(view.at("document") + f"#L{line}", 303)


def _path(view: PageView) -> Path:
    path = view.system.document
    if path is None or not path.is_file():
        raise PageMissing("No document: start the studio with one, as keyfold studio DESIGN.md.")
    return path


def _digest(written: str) -> str:
    return sha256(written.encode()).hexdigest()


def _figures(found: DocumentDesign) -> Html:
    seen = found.reading.coverage()
    whole = sum(seen.values())
    notes = {"read": f"of {plural(whole, 'line')}"}
    figures: list[tuple[str, Child, Child]] = [
        (mark.capitalize(), state(MARKS[mark][0], count(number)), notes.get(mark))
        for mark, number in seen.items()
    ]
    made = f"{plural(len(found.schema.patterns), 'pattern')}"
    return stats([*figures, ("Entities", count(len(found.schema.entities)), made)])


def _source(found: DocumentDesign, name: str) -> Html:
    """The document by line, each with its mark and what was read or is asked."""
    reading = found.reading
    told: dict[int, list[str]] = {}
    for said in reading.statements:
        if not isinstance(said, AttributeStatement):
            told.setdefault(said.line, []).append(str(said))
    lines = reading.text.splitlines()
    legend = el("span.legend", (state(kind, mark) for mark, (kind, _) in MARKS.items()))
    more = len(lines) - LINES
    return panel(
        name,
        el(
            "ol.source",
            (
                _line(number, content, reading.marks.get(number), told.get(number, ()),
                      reading.questions.get(number, ()))
                for number, content in enumerate(lines[:LINES], 1)
            )),
        note=legend,
        footer=el("span", f"{plural(more, 'more line')}") if more > 0 else None,
    )  # fmt: skip


def _line(
    number: int,
    content: str,
    mark: Mark | None,
    told: list[str] | tuple[()],
    asked: list[str] | tuple[()],
) -> Html:
    kind = MARKS[mark][1] if mark else "hd" if content.startswith("#") else "p"
    says = [*(el("span", each) for each in dict.fromkeys(told)),
            *(link(f"#q{number}", each) for each in asked)]  # fmt: skip
    return el(
        "li",
        el("span.mk"),
        el("span.no", str(number)),
        el("span.tx", el("span.hide", f"{mark}: ") if mark else None, content),
        el("span.say", says) if says else None,
        id=f"L{number}",
        class_=kind,
    )


def _questions(view: PageView, found: DocumentDesign, written: str, current: int) -> Html:
    asked = sorted(found.reading.questions.items())
    if not asked:
        return panel("Questions", empty("No questions", "Every statement is clear."))
    items = (_question(view, line, each, written, line == current) for line, each in asked)
    return panel("Questions", el("ol.ask", items), note=f"{len(asked)} open")


def _question(view: PageView, line: int, asked: list[str], written: str, current: bool) -> Html:
    choices = (
        ("yes", "It is as keyfold read it"),
        ("ignore", "It is not part of the design"),
        ("statement", "It says:"),
    )
    typed = view.form if current else {}
    fields = el(
        "fieldset",
        el("legend", asked[0], " ", el("span.from", link(f"#L{line}", f"line {line}"))),
        (el("p", each) for each in asked[1:]),
        (
            el(
                "label.choice",
                el("input", type="radio", name="said", value=value,
                   checked=typed.get("said") == value),
                f" {words}")
            for value, words in choices
        ),
        el(
            "input",
            type="text",
            name="statement",
            value=typed.get("statement", ""),
            placeholder="Order: PK=ORDER#<orderId>, SK=META",
            aria_label=f"What line {line} says",
        ),
        el("button.btn", "Answer", type="submit") if view.system.writable else None,
    )  # fmt: skip
    kept = [("line", str(line)), ("digest", _digest(written))]
    return el("li", view.form_for(view.at("document"), kept, fields), id=f"q{line}")


def _design(view: PageView, found: DocumentDesign) -> Html:
    entities = el("ul.drawn", _entities(view, found))
    if not found.schema.entities:
        entities = empty("No entity", "No line gives a key, such as PK = ORDER#<orderId>.")
    made: list[tuple[str, Child]] = [
        ("Entities", entities),
        ("Design file", code(dumps(found.schema))),
    ]
    return tabs("d", made, label="The design so far")


def _entities(view: PageView, found: DocumentDesign) -> Iterator[Html]:
    first: dict[str, int] = {}
    for said in found.reading.statements:
        if isinstance(said, KeyStatement):
            first.setdefault(said.key.shape, said.line)
    for entity in found.schema.entities:
        both = (entity.key.partition, entity.key.sort) if entity.key else ()
        keys = [each for each in both if each]
        line = next((first[s] for one in keys[::-1] if (s := _shape(one.text)) in first), None)
        drawn = ((" › " if at else " ", view.template(entity, one)) for at, one in enumerate(keys))
        yield el(
            "li",
            view.ent(entity.name),
            el("span", *(part for each in drawn for part in each)),
            el("span.from", link(f"#L{line}", f"line {line}")) if line else None,
            (el("small", f"{each.index}: {each.key}") for each in entity.placements),
        )


def _shape(template: str) -> str:
    parts = template.split("{")
    return parts[0] + "".join("<>" + part.split("}", 1)[-1] for part in parts[1:])
