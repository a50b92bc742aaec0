"""A lapse: a copy written without the design, as an unaware program would."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from keyfold_workbench.studio.items import KnownItem, plain, scalar, value_text
from keyfold_workbench.studio.markup import Html, el
from keyfold_workbench.studio.parts import diff, head, link, panel, state
from keyfold_workbench.studio.view import PageMissing, PageView


def lapse(view: PageView) -> Html:
    """The plan of a drift: what a program without the design could do to a copy."""
    item, name = _victim(view)
    says = "Writes a copy directly, as a program without the design would."
    changed = [(name, value_text(plain(item.wire[name])), _drifted(item, name))]
    submit = view.form_for(
        view.at("drift"),
        el("input", type="hidden", name="table", value=item.table.name),
        el("input", type="hidden", name="pk", value=item.partition),
        el("input", type="hidden", name="sk", value=item.sort or ""),
        el("input", type="hidden", name="name", value=name),
        el("button", "Send 1 UpdateItem", class_="btn main", type="submit"),
    )
    step = el(
        "li",
        el("span", 1, class_="i"),
        el("div", el("b", "Update"), view.ent(item.kind), view.item_key(item), class_="top2"),
        el("span", "without its canonical", class_="num small muted"),
        diff(changed),
    )
    return view.page(
        "Cause a drift",
        head("Cause a drift", says, link(view.at("streams"), "Discard", class_="btn quiet")),
        panel(
            "What will be written",
            el("ol", step, class_="plan"),
            note=state("note", "nothing has been sent"),
            footer=submit,
        ),
        current="streams",
        crumbs=[("Streams and drift", view.at("streams")), ("Cause a drift", None)],
    )


def write_past(view: PageView) -> Response:
    """Write a copy without the design."""
    view.require_write()
    item, name = _victim(view)
    given = view.form
    if (given.get("pk"), given.get("sk"), given.get("name")) != (item.partition, item.sort, name):
        raise PageMissing("Not found: the copy of this plan. Look at the plan again.")
    view.system.call(
        "UpdateItem",
        {
            "TableName": view.system.physical(item.table),
            "Key": item.key,
            "UpdateExpression": "SET #n = :n",
            "ConditionExpression": "attribute_exists(#p)",
            "ExpressionAttributeNames": {"#n": name, "#p": item.table.partition},
            "ExpressionAttributeValues": {":n": {"S": _drifted(item, name)}},
        },
    )
    view.system.survey.forget()
    return RedirectResponse(view.item(item), 303)


def _victim(view: PageView) -> tuple[KnownItem, str]:
    """A copy with a text from its canonical."""
    for seen in view.system.survey.tables(5.0).values():
        for items in seen.examples.values():
            for item in items:
                copied = item.entity.copy.fields if item.entity and item.entity.copy else ()
                for attribute in item.entity.attributes if item.entity else ():
                    keys = item.entity.key.fields if item.entity and item.entity.key else ()
                    text_field = attribute.type == "string" and attribute.field not in keys
                    if attribute.field in copied and text_field and attribute.name in item.wire:
                        return item, attribute.name
    raise PageMissing("This design has no copies that can drift.")


def _drifted(item: KnownItem, name: str) -> str:
    return f"{scalar(item.wire[name])[:100]} (drifted)"
