"""The attributes of a document's entities."""

from __future__ import annotations

from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.statements import AttributeStatement, ExpiryStatement

_ALIKE = (
    {"string", "timestamp"},
    {"string", "date"},
    {"timestamp", "date"},
    {"number", "timestamp"},
    {"number", "decimal"},
    {"list", "string_set"},
    {"list", "map"},
    {"string", "map"},
)
"""Types that one attribute can have in two places of a document."""


def add_attributes(model: DocumentModel) -> None:
    """Attributes of the entities, and after how many days their items expire."""
    lost: dict[str, int] = {}
    names = {s.name for s in model.said if isinstance(s, AttributeStatement)}
    for s in model.said:
        if isinstance(s, AttributeStatement) and s.entity in names:
            continue  # a part of the attribute that its heading names
        if isinstance(s, ExpiryStatement):
            entity = model.named(s.entity)
            if entity is None:
                model.reading.ask(
                    s.line,
                    f"Which entity expires after {s.days} days? None is called {s.entity}.",
                )
            else:
                entity.days = s.days
        elif isinstance(s, AttributeStatement):
            entity = model.named(s.entity) or (
                model.entities[0] if len(model.entities) == 1 else None
            )
            if entity is None:
                if s.entity and s.notation != "an example item":
                    lost.setdefault(s.entity, s.line)
                continue
            known = entity.attributes.setdefault(s.name, s)
            if (
                known.type
                and s.type
                and {known.type, s.type} not in _ALIKE
                and known.type != s.type
            ):
                model.reading.ask(
                    s.line,
                    f"{entity.name}.{s.name} is {s.type} here, and {known.type} in "
                    f"line {known.line}.",
                    contradicts=True,
                )
            elif not known.type and s.type:
                entity.attributes[s.name] = s
    for title, line in lost.items():
        model.reading.ask(
            line, f"What is the key of {title}? The document gives its attributes only."
        )
