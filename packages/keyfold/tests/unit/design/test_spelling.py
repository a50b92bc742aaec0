"""What people type has one spelling."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold import Design, Entity, Id, Key, Normalised, Unique
from keyfold.errors import UniqueTaken
from keyfold.fields import one_spelling

ALIKE = {
    "case": "AdaLovelace",
    "full width": "ａｄａｌｏｖｅｌａｃｅ",
    "zero width": "ada\u200blove\u200clace",
    "soft hyphen": "ada\u00adlovelace",
    "joiner": "ada\u2060love\ufefflace",
    "variation": "adalovelace\ufe0f",
    "spaces": " adalovelace\u3000",
    "mathematical": "𝒂𝒅𝒂lovelace",
    "filler": "ada\u034flovelace",
}


@pytest.mark.parametrize("case", ALIKE)
def test_lookalikes_are_one_spelling(case: str) -> None:
    assert one_spelling(ALIKE[case]) == "adalovelace"


def test_composed_and_decomposed_letters_are_one_spelling() -> None:
    assert one_spelling("Zoe\u0308") == one_spelling("ZOË") == "zoë"
    assert one_spelling("Straße") == one_spelling("STRASSE") == "strasse"


def test_letters_of_other_alphabets_stay_apart() -> None:
    assert one_spelling("аda") != one_spelling("ada")


@given(st.text())
def test_one_spelling_stays_as_it_is(text: str) -> None:
    assert one_spelling(one_spelling(text)) == one_spelling(text)


def test_a_field_and_a_unique_take_it() -> None:
    design = Design("spelling")

    class User(Entity, table=design.table("spelling")):
        user_id: Id
        name: str
        email: Annotated[str, Normalised(one_spelling)]
        key = Key("USER#{user_id}", "USER")
        one_name = Unique("name", normalise=one_spelling)
        one_email = Unique("email")

    with design.open(":memory:") as db:
        ada = db.create(User(user_id="1", name="Ada", email=" ADA@example.org"))
        assert (ada.name, ada.email) == ("Ada", "ada@example.org")
        for name, email in (("a\u200bda", "b@x"), ("Bea", "\uff41da@example.org")):
            with pytest.raises(UniqueTaken):
                db.create(User(user_id="2", name=name, email=email))
