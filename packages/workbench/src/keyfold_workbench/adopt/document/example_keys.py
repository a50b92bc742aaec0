"""Keys of example items: of which entity, and by which template."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keyfold_workbench.adopt.document.items import DocumentEntity
from keyfold_workbench.adopt.document.key_text import WrittenKey, can_meet
from keyfold_workbench.adopt.document.statements import (
    DocumentReading,
    DocumentStatement,
    KeyStatement,
)


def known_example(
    entities: Sequence[DocumentEntity], said: Sequence[KeyStatement]
) -> DocumentEntity | None:
    """The entity, described elsewhere, whose items these are examples of."""
    own = [s for s in said if not s.side.index]
    return next(
        (
            entity
            for entity in entities
            if all(
                (known := entity.keys.get(("", s.side.side))) and can_meet(s.key, known[0])
                for s in own
            )
        ),
        None,
    )


def place_example(
    reading: DocumentReading,
    said: Sequence[DocumentStatement],
    entity: DocumentEntity,
    s: KeyStatement,
) -> bool:
    """Whether an example's index key is known, or is that of a key told of no entity."""
    place = s.side.index, s.side.side
    if place in entity.keys:
        return True
    free = [
        other
        for other in said
        if isinstance(other, KeyStatement)
        and not other.entity
        and (other.side.index, other.side.side) == place
        and not other.key.example
        and can_meet(s.key, other.key)
    ]
    if len({other.key.shape for other in free}) != 1 and (free or s.key.example):
        return False
    key, line = (free[0].key, free[0].line) if free else (s.key, s.line)
    entity.keys[place] = key, line
    reading.ask(s.line, f"{entity.name}: {key.text} is read from an example. Is it so?")
    return True


def by_prefix(said: Sequence[DocumentStatement], key: WrittenKey) -> WrittenKey | None:
    """An example `ORG#o-1` by the one template `ORG#<orgId>` of the document."""
    fields: dict[str, set[str]] = {}
    for s in said:
        if isinstance(s, KeyStatement):
            for prefix, name in re.findall(r"(\w+)#<(\w+)>", s.key.text):
                fields.setdefault(prefix, set()).add(name)
    parts = key.text.split("#")
    for at, part in enumerate(parts):
        known = fields.get(parts[at - 1], set()) if at else set()
        if at and "<" not in part and not part.isupper():
            if len(known) != 1:
                return None
            parts[at] = f"<{next(iter(known))}>"
    return WrittenKey("#".join(parts))
