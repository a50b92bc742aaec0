"""Try as a user: the pages of the service, who there is, and ids that exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keyfold_workbench.studio.markup import Html, el
from keyfold_workbench.studio.parts import empty, grid, head, link, panel
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import PageView

EXAMPLES = 5
LOOKED_AT = 20
"""Items of each entity among which values are looked for."""


def trial(view: PageView) -> Html:
    """Links to REST and GraphQL, as a user of the data."""
    service = view.system.trial
    if service is None:
        says = "Serve one with keyfold api. In keyfold demo, this page links to it."
        body = [head("Try as a user", ""), empty("No service here", says)]
        return view.page("Try as a user", *body, current="try")
    pages = el(
        "ul",
        (
            el("li", el("b", words), el("span", says), link(where, "Open", class_="link"))
            for words, says, where in (
                *(
                    [("Page", "The system as a person uses it", service.page)]
                    if service.page
                    else ()
                ),
                ("REST", "Operations with forms and examples, by Swagger UI", service.rest),
                (
                    "GraphQL",
                    "Queries from the schema, completed as you type",
                    service.graphql,
                ),
                ("Sign in", "Choose who you are on those pages", service.sign_in),
            )
        ),
        class_="todo",
    )
    people = grid(
        [("User", False), ("As a token", False)],
        ((el("b", one), el("code", f"Authorization: Bearer {one}")) for one in service.users),
    )
    return view.page(
        "Try as a user",
        head("Try as a user", "The service itself, as one of the users in the data."),
        el(
            "div",
            el(
                "div",
                panel("Pages", pages),
                panel("People", people, note="the demo takes a name as its token"),
                class_="stack",
            ),
            panel("Ids that exist", _ids(view), note="each leads to its item"),
            class_="cols wide-right",
        ),
        current="try",
    )


def example_values(system: StudioSystem, fields: Sequence[str], user: str) -> dict[str, str]:
    """Values of fields that one item has together, an item of the user if there is one."""
    found: list[Mapping[str, object]] = [{"user_id": user}] if user else []
    for seen in system.survey.tables(1.0).values():
        found += [one.values for items in seen.examples.values() for one in items[:LOOKED_AT]]

    def texts_of(values: Mapping[str, object]) -> dict[str, str]:
        return {
            name: value for name in fields if isinstance(value := values.get(name), str) and value
        }

    found.sort(key=lambda values: (-len(texts_of(values)), user not in values.values()))
    made: dict[str, str] = {}
    for values in found:
        made = texts_of(values) | made
        if len(made) == len(fields):
            break
    return made


def _ids(view: PageView) -> Html:
    """Examples of each canonical's key fields, to paste into an operation."""
    rows = []
    for entity in view.system.schema.entities:
        seen = view.system.survey.tables(1.0).get(entity.table)
        if seen is None or entity.copy is not None or entity.key is None:
            continue
        examples = seen.examples.get(entity.name, [])[:EXAMPLES]
        if examples:
            fields = list(dict.fromkeys(entity.key.fields))
            told = [", ".join(str(one.values.get(f, "")) for f in fields) for one in examples]
            links = [
                link(view.item(one), el("code", words), class_="tag")
                for one, words in zip(examples, told, strict=True)
            ]
            rows.append(
                (view.ent(entity.name), ", ".join(fields), el("div", links, class_="acts tags"))
            )
    return grid([("Entity", False), ("Fields", False), ("Values", False)], rows)
