"""Formats that other libraries write into keys: only the case changes, numbers have no width."""

from __future__ import annotations

from keyfold import Design, Entity, Id, Key
from keyfold.design.formats import parse_format


def test_only_the_case_of_letters_changes() -> None:
    assert parse_format("lowercase").render("Gamma  Ray ß") == "gamma  ray ß"
    assert parse_format("uppercase").render("Gamma  Ray") == "GAMMA  RAY"


def test_a_number_without_a_width_is_declared_on_purpose() -> None:
    design = Design("pages")
    pages = design.table("pages")

    class Page(Entity, table=pages):
        book_id: Id
        number: int
        key = Key("BOOK#{book_id}", "PAGE#{number:d}")

    assert Page.key(book_id="b", number=7).wire() == {"PK": {"S": "BOOK#b"}, "SK": {"S": "PAGE#7"}}
