"""Views of entities: their fields, without some, with a service's own."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from keyfold import Design, Entity, Id, Key, Name, Timestamp
from keyfold.errors import DeclarationError
from keyfold_web import ItemView, Payload

table = Design("views").table("views")


class Post(Entity, table=table):
    post_id: Id
    author_id: Id
    text: Annotated[str, Field(max_length=5)]
    """What it says."""
    seen_by: Annotated[list[str], Name("seen")] = []
    created_at: Timestamp | None = None
    key = Key("POST#{post_id}", "POST")


class Person(Payload):
    name: str


class PostView(ItemView, of=Post, without=("author_id", "seen_by")):
    author: Person
    liked: bool = False


class Head(ItemView, of=Post, only=("post_id", "text")):
    text: str | None


ADA = Person(name="Ada")
POST = Post(post_id="p", author_id="ada", text="Hello")


def test_a_view_has_the_fields_of_its_entity_and_its_own() -> None:
    shown = PostView.of(POST, author=ADA, liked=True)
    assert shown.model_dump(by_alias=True) == {
        "postId": "p",
        "text": "Hello",
        "createdAt": None,
        "author": {"name": "Ada"},
        "liked": True,
    }
    assert not PostView.of(POST, author=ADA, liked=False).liked


def test_the_schema_requires_them_and_tells_of_them() -> None:
    schema = PostView.model_json_schema(mode="serialization")
    assert schema["properties"]["text"] == {
        "title": "Text",
        "type": "string",
        "description": "What it says.",
    }
    assert {"postId", "text", "createdAt", "author"} <= set(schema["required"])


def test_only_names_what_is_shown_and_a_declared_field_keeps_its_type() -> None:
    assert list(Head.model_fields) == ["post_id", "text"]
    assert Head.model_fields["text"].annotation == str | None


def test_a_view_of_a_view_adds_to_it() -> None:
    class Longer(Head, of=Post, only=("seen_by",)):
        pass

    shown = Longer.of(POST.model_copy(update={"seen_by": ["ben"]}))
    assert shown.model_dump() == {"post_id": "p", "text": "Hello", "seen_by": ["ben"]}


@pytest.mark.parametrize("how", ["only", "without"])
def test_a_field_that_the_entity_lacks_is_refused(how: str) -> None:
    with pytest.raises(DeclarationError, match="'titel', which Post does not have"):
        type("Wrong", (ItemView,), {"__module__": __name__}, of=Post, **{how: ("titel",)})
