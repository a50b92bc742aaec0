"""A marker does something in a field's Annotated alone; elsewhere it is refused, not ignored."""

from __future__ import annotations

from types import new_class
from typing import Annotated, Any

import pytest

from keyfold import (
    AtMost,
    Average,
    Cascade,
    Counter,
    Created,
    Design,
    Entity,
    Fixed,
    Id,
    Index,
    InKey,
    Key,
    Name,
    Normalised,
    On,
    Query,
    Stored,
    Ttl,
    Unique,
    Unversioned,
    Updated,
    Vector,
    Version,
)
from keyfold.errors import DeclarationError

DECLARATIONS = [Unique("email"), Cascade("Pet"), On("GSI1", "A#{email}", "B"), Average("a", "b")]
STRANGERS = [*DECLARATIONS, Key("A#{email}", "B"), Index("GSI1", "a", "b"), Query]
MARKERS = [
    Version(), Created(), Updated(), Ttl(days=1), Name("mail"), Stored("epoch"), AtMost(3),
    Normalised(str.casefold), Fixed(), Unversioned(), InKey(), Counter("Pet"), Vector(3, "cosine"),
]  # fmt: skip


def declare(annotation: Any, **attributes: Any) -> type[Entity]:
    design = Design("pets")
    table = design.table("pets", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], ttl="ttl")
    body: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {"owner_id": Id, "email": annotation},
        "key": Key("OWNER#{owner_id}", "OWNER"),
    }
    body |= attributes
    return new_class("Owner", (Entity,), {"table": table}, lambda made: made.update(body))


def called(one: Any) -> str:
    return type(one).__name__


@pytest.mark.parametrize("stranger", STRANGERS, ids=called)
def test_what_is_not_a_marker_is_refused_in_annotated(stranger: Any) -> None:
    with pytest.raises(DeclarationError, match=r"E3.* Owner\.email"):
        declare(Annotated[str, stranger])


def test_a_unique_in_annotated_says_where_it_belongs() -> None:
    with pytest.raises(DeclarationError) as refused:
        declare(Annotated[str, Unique()])
    assert "Declare it beside the fields, as name = Unique(...)." in str(refused.value)


@pytest.mark.parametrize("misplaced", [*MARKERS, *DECLARATIONS], ids=called)
def test_nothing_of_a_declaration_can_be_a_default(misplaced: Any) -> None:
    with pytest.raises(DeclarationError, match="default of email is a declaration"):
        declare(str, email=misplaced)


@pytest.mark.parametrize("marker", MARKERS, ids=called)
def test_a_marker_without_a_type_is_refused(marker: Any) -> None:
    with pytest.raises(DeclarationError, match=f"mark: mark = {called(marker)}"):
        declare(str, mark=marker)
