"""A pointer with a condition: only those records have one for which it holds."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key, Pointer
from keyfold.design import file
from keyfold.maintain import verify
from keyfold.review.docs.content import document
from keyfold.review.docs.markdown import markdown
from keyfold_engine.expressions.text import condition_text

design = Design("posts")
table = design.table("Posts")


class Post(Entity, table=table):
    post: Id
    public: bool = False
    likes: Annotated[int, Counter("Like")] = 0
    key = Key("POST#{post}", "POST")


class PublicPost(Pointer[Post], table=table, when=lambda post: post.public):
    post: Id
    likes: int
    key = Key("PUBLIC", "POST#{post}")


class Like(Entity, table=table):
    post: Id
    user: Id
    key = Key("POST#{post}", "LIKE#{user}")


@pytest.fixture
def db() -> Db:
    return design.open(":memory:")


def test_a_pointer_comes_and_goes_with_its_condition(db: Db) -> None:
    db.create(Post(post="a"))
    db.create(Post(post="b", public=True))
    db.create(Like(post="a", user="u"))
    assert [one.post for one in db.scan(PublicPost)] == ["b"]
    db.update(Post.key(post="a"), public=True)
    assert {one.post: one.likes for one in db.scan(PublicPost)} == {"a": 1, "b": 0}
    db.create(Like(post="a", user="v"))
    assert {one.post: one.likes for one in db.scan(PublicPost)} == {"a": 2, "b": 0}
    db.update(Post.key(post="b"), public=False)
    assert [one.post for one in db.scan(PublicPost)] == ["a"]
    assert verify(db).clean


def test_the_condition_is_part_of_the_design() -> None:
    (found,) = [each for each in design.schema.follows if each.fact == "copy"]
    assert found.when is not None
    assert condition_text(found.when) == "public = true"
    assert "public" in found.fields
    assert file.loads(file.dumps(design.schema)) == design.schema
    assert "where `public = true`" in markdown(document(design.schema), pictures="")
