"""A serializer of a field would be passed over when it is stored: it is refused at import."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    PlainSerializer,
    WrapSerializer,
    field_serializer,
    model_serializer,
)
from pydantic_core import core_schema

from keyfold import Design, Entity, Id, Key
from keyfold.errors import DeclarationError

design = Design("secret")
table = design.table("secret")


def encrypt(text: str) -> str:
    return text[::-1]


Plain = Annotated[str, PlainSerializer(encrypt)]
Wrapped = Annotated[str, WrapSerializer(lambda value, _: encrypt(value))]


class OwnText(str):
    """A class whose core schema says how it is serialized."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: Any) -> Any:
        return {**handler(str), "serialization": core_schema.to_string_ser_schema()}


class Encrypted:
    """A marker that changes the core schema of its field."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        serialized = core_schema.plain_serializer_function_ser_schema(encrypt)
        return {**handler(source), "serialization": serialized}


MARKED = [Plain, Plain | None, list[Plain], dict[str, Plain], Wrapped]
OTHERS = [OwnText, Annotated[str, Encrypted()], list[Annotated[str, Encrypted()]]]


@pytest.mark.parametrize("kind", [*MARKED, *OTHERS])
def test_a_serializer_of_a_type_is_refused(kind: Any) -> None:
    with pytest.raises(DeclarationError, match=r"Card\.number has a serializer"):

        class Card(Entity, table=table):
            card_id: Id
            number: kind
            key = Key("CARD#{card_id}", "CARD")


def test_a_serializer_of_the_class_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Card\.number has a serializer"):

        class Card(Entity, table=table):
            card_id: Id
            number: str
            key = Key("CARD#{card_id}", "CARD")

            @field_serializer("number")
            def hidden(self, number: str) -> str:
                return encrypt(number)

    with pytest.raises(DeclarationError, match="Whole has a serializer"):

        class Whole(Entity, table=table):
            card_id: Id
            key = Key("CARD#{card_id}", "CARD")

            @model_serializer
            def hidden(self) -> dict[str, str]:
                return {}


def test_a_default_that_looks_like_a_schema_is_none() -> None:
    class Sheet(Entity, table=table):
        sheet_id: Id
        columns: dict[str, str] = {"type": "str", "serialization": "none"}
        key = Key("SHEET#{sheet_id}", "SHEET")

    assert Sheet(sheet_id="s").columns["serialization"] == "none"


class Inner(BaseModel):
    number: Plain


class Tree(BaseModel):
    card: Inner | None = None
    branches: list[Tree] = []


def test_a_serializer_of_a_model_inside_an_item_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Wallet\.trees\.card\.number has a serializer"):

        class Wallet(Entity, table=table):
            wallet_id: Id
            trees: list[Tree]
            key = Key("WALLET#{wallet_id}", "WALLET")
