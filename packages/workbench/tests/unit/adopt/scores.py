"""How much of a written-up design a draft finds: entities, names, templates, references."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.unit.adopt.public.made import Public

from keyfold.design.schema import EntitySchema, Schema
from keyfold.runtime.table_description import table_schema
from keyfold_workbench.adopt.design_draft import DesignDraft, draft
from keyfold_workbench.adopt.item_groups import group


@dataclass
class Score:
    """What there is, and what was found of it."""

    name: str
    entities: int = 0
    found: int = 0
    named: int = 0
    templates: int = 0
    right: int = 0
    references: int = 0
    referred: int = 0
    wrong: list[str] = field(default_factory=list)


def score(public: Public, share: float = 1.0) -> Score:
    """DesignDraft a design from the items, or from a share of them, and compare."""
    chosen = Random(20)
    labelled = [row for row in public.wire() if share == 1.0 or chosen.random() < share]
    table = table_schema(public.table)
    items = [item for _, item in labelled]
    drafted = draft(table, items, complete=share == 1.0)
    label = {id(item): kind for kind, item in labelled}
    groups = group(table, items).groups
    told = Score(
        f"{public.name} *" if public.held_out else public.name,
        entities=len(public.kinds),
        references=len(public.references),
    )
    matched: dict[str, EntitySchema] = {}
    for each, entity in zip(groups, drafted.schema.entities, strict=True):
        count = Counter(label[id(item)] for item in each.items)
        kind, number = count.most_common(1)[0]
        whole = sum(one == kind for one, _ in labelled)
        if number >= 0.95 * len(each.items) and number >= 0.95 * whole:
            matched[kind] = entity
        else:
            told.wrong.append(f"{entity.name} is of {dict(count)}")
    told.found = len(matched)
    for kind, truth in public.kinds.items():
        told.templates += len(truth.keys)
        if kind not in matched:
            told.wrong.append(f"{kind} not found")
            continue
        entity = matched[kind]
        if entity.name in truth.names:
            told.named += 1
        else:
            told.wrong.append(f"{kind} is called {entity.name}")
        given = _templates(entity, drafted.schema)
        for attribute, wanted in truth.keys.items():
            if _same(wanted, given.get(attribute, ""), entity):
                told.right += 1
            else:
                told.wrong.append(f"{kind}.{attribute}: {given.get(attribute)} is not {wanted}")
    for kind, attribute, other in sorted(public.references):
        refers = _refers(matched.get(kind), attribute)
        if refers and other in matched and refers == matched[other].name:
            told.referred += 1
        else:
            told.wrong.append(f"{kind}.{attribute} refers to {refers!r}, not {other}")
    return told


def _refers(entity: EntitySchema | None, attribute: str) -> str:
    found = entity.attributes if entity else ()
    return next((a.refers for a in found if a.name == attribute), "")


def _templates(entity: EntitySchema, schema: Schema) -> dict[str, str]:
    table = schema.tables[0]
    given: dict[str, str] = {}
    owners: list[tuple[Any, Any]] = [(table, entity.key)]
    owners += [(table.index(p.index), p.key) for p in entity.placements]
    for owner, key in owners:
        given[owner.partition] = key.partition.text
        if owner.sort and key.sort:
            given[owner.sort] = key.sort.text
    return given


_FORMATS = {"lower": "lowercase", "upper": "uppercase", "day": "%Y-%m-%d"}
_SLOT = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")


def _same(wanted: str, found: str, entity: EntitySchema) -> bool:
    """The same texts, and the same values between them."""
    if _SLOT.sub("{}", wanted) != _SLOT.sub("{}", found):
        return False
    names = {a.field: a.name for a in entity.attributes}
    only = {a.field for a in entity.attributes if a.in_key}
    for (name, spelled), (slot, format_) in zip(
        _SLOT.findall(wanted), _SLOT.findall(found), strict=True
    ):
        if name == "?":
            if slot not in only:
                return False
            continue
        fits = not spelled or _FORMATS.get(spelled, spelled) == format_
        if names.get(slot, slot) != name or not fits:
            return False
    return True


def table_of_scores(scores: list[Score], source: dict[str, str]) -> str:
    """The scores as a Markdown table."""
    lines = [
        "| Design | After | Entities found | Named | Templates | References |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {s.name} | {source[s.name.removesuffix(' *')]} | {s.found} of {s.entities} | "
        f"{s.named} of {s.entities} | "
        f"{s.right} of {s.templates} | "
        f"{f'{s.referred} of {s.references}' if s.references else '–'} |"
        for s in scores
    ]
    total = [
        sum(getattr(s, n) for s in scores)
        for n in ("found", "entities", "named", "right", "templates", "referred", "references")
    ]
    found, entities, named, right, templates, referred, references = total
    lines.append(
        f"| **All** | | {found} of {entities} ({found / entities:.0%}) | "
        f"{named} of {entities} ({named / entities:.0%}) | {right} of {templates} "
        f"({right / templates:.0%}) | {referred} of {references} ({referred / references:.0%}) |"
    )
    return "\n".join(lines) + "\n"


def drafted(public: Public) -> DesignDraft:
    return draft(table_schema(public.table), [item for _, item in public.wire()], complete=True)
