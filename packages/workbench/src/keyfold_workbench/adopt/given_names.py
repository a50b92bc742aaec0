"""Keeps the names of an existing design file in a new draft of the same table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from keyfold.design.schema import (
    EntitySchema,
    KeyTemplates,
    Placement,
    Schema,
)
from keyfold.design.template import Slot, Template
from keyfold_workbench.adopt.design_draft import DesignDraft

Names = Mapping[str, str]


def keep_names(drafted: DesignDraft, keep: Schema) -> DesignDraft:
    """The draft with the names and patterns of a design that describes the same keys."""
    known = {e.key.skeleton: e for e in keep.entities if e.key is not None}
    named: dict[str, str] = {}
    entities: list[EntitySchema] = []
    for entity in drafted.schema.entities:
        given = known.get(entity.key.skeleton) if entity.key else None
        if given is None:
            entities.append(entity)
            continue
        named[entity.name] = given.name
        entities.append(_rename_fields(entity, given))
    entities = [
        replace(
            entity,
            attributes=tuple(
                replace(a, refers=named.get(a.refers, a.refers)) for a in entity.attributes
            ),
        )
        for entity in entities
    ]
    patterns = [p for p in drafted.schema.patterns if not {*p.entities} & {*named}]
    kept = replace(
        keep,
        tables=drafted.schema.tables,
        entities=tuple(entities),
        patterns=(*keep.patterns, *patterns),
        follows=(),
    )
    fields = {old: new for old, new in named.items() if old != new}
    return DesignDraft(
        kept,
        [_rename_words(note, fields) for note in drafted.notes],
        [_rename_words(q, fields) for q in drafted.questions if not _is_answered(q, named)],
    )


def _is_answered(question: str, named: Mapping[str, str]) -> bool:
    """Whether the design has a name for a value in a key."""
    return "is only in the key" in question and question.partition(".")[0] in named


def _rename_words(text: str, names: Names) -> str:
    for old, new in names.items():
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return text


def _rename_fields(entity: EntitySchema, given: EntitySchema) -> EntitySchema:
    """The fields renamed as in the design: by their position in the key, or by attribute."""
    fields: dict[str, str] = {}
    theirs = {a.name: a for a in given.attributes if not a.in_key}
    for attribute in entity.attributes:
        if attribute.name in theirs and not attribute.in_key:
            fields[attribute.field] = theirs[attribute.name].field
    if entity.key is not None and given.key is not None:
        fields |= dict(zip(entity.key.fields, given.key.fields, strict=False))
    for placement in entity.placements:
        for other in given.placement(placement.index):
            if placement.key.skeleton == other.key.skeleton:
                fields |= dict(zip(placement.key.fields, other.key.fields, strict=False))
    known = {a.field: a for a in given.attributes}
    attributes = []
    for attribute in entity.attributes:
        name = fields.get(attribute.field, attribute.field)
        made = replace(attribute, field=name, name=name if attribute.in_key else attribute.name)
        stated = known.get(name)
        if stated is not None:
            made = replace(
                made,
                values=stated.values,
                refers=stated.refers or made.refers,
                description=stated.description,
                mutable=stated.mutable,
            )
        attributes.append(made)
    return replace(
        entity,
        name=given.name,
        key=_key(entity.key, fields) if entity.key else None,
        placements=tuple(_placement(p, given, fields) for p in entity.placements),
        attributes=tuple(attributes),
        uniques=given.uniques,
        copy=given.copy,
        role=given.role,
        version=given.version,
        silences=given.silences,
    )


def _placement(placement: Placement, given: EntitySchema, fields: Names) -> Placement:
    stated = next(iter(given.placement(placement.index)), None)
    if stated is not None and stated.key.skeleton == placement.key.skeleton:
        return stated
    return replace(placement, key=_key(placement.key, fields))


def _key(key: KeyTemplates, fields: Names) -> KeyTemplates:
    return KeyTemplates(
        _template(key.partition, fields), _template(key.sort, fields) if key.sort else None
    )


def _template(template: Template, fields: Names) -> Template:
    parts = tuple(
        replace(part, field=fields.get(part.field, part.field)) if isinstance(part, Slot) else part
        for part in template.parts
    )
    return Template(parts, template.escape)
