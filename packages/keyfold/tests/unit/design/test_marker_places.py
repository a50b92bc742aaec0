"""A marker does something in a field's Annotated alone; elsewhere it is refused, not ignored."""

from __future__ import annotations

from collections.abc import Callable
from types import new_class
from typing import Annotated, Any

import pytest

from keyfold import (
    AtMost,
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
    States,
    Stored,
    Ttl,
    Unique,
    Unversioned,
    Updated,
    Version,
)
from keyfold.errors import DeclarationError
from keyfold.structures import Average, Cascade
from keyfold.vectors import Vector

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
    assert "Declare it next to the fields, as name = Unique(...)." in str(refused.value)


@pytest.mark.parametrize("misplaced", [*MARKERS, *DECLARATIONS], ids=called)
def test_nothing_of_a_declaration_can_be_a_default(misplaced: Any) -> None:
    with pytest.raises(DeclarationError, match="default of email is a declaration"):
        declare(str, email=misplaced)


@pytest.mark.parametrize("marker", MARKERS, ids=called)
def test_a_marker_without_a_type_is_refused(marker: Any) -> None:
    with pytest.raises(DeclarationError, match=f"mark: mark = {called(marker)}"):
        declare(str, mark=marker)


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        (lambda: Stored("unix"), "time.s format: iso, "),  # type: ignore[arg-type]
        (lambda: AtMost(0), "at least 1"),
        (lambda: AtMost("3"), "at least 1"),  # type: ignore[arg-type]
        (lambda: Ttl(days=-3), "more than 0 days"),
        (lambda: Name(""), "Give the attribute's name"),
        (lambda: Normalised("lower"), "a function of text"),  # type: ignore[arg-type]
        (lambda: States({"new": "paid"}), "Write {'paid'}"),
    ],
)
def test_a_marker_that_means_nothing_is_refused(marker: Callable[[], Any], says: str) -> None:
    with pytest.raises(DeclarationError, match=f"E3 .*test_marker_places.*{says}"):
        marker()


def test_a_state_that_no_step_knows_cannot_be_the_first() -> None:
    with pytest.raises(DeclarationError, match="email starts as z, which has no transitions"):
        declare(Annotated[str, States({"x": {"y"}})], email="z")
