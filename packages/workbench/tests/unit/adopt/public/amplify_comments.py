"""After Amplify's documentation: the Comment table of Blog, Post and Comment (@model, @index)."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(14)
    made = Public(
        "Amplify comments",
        "AWS Amplify's documentation",
        table("Comment-qpdnw2d5znbzjajgvjnwrhv5dq-main", "id", "byPost postID createdAt"),
        {
            "Comment": Kind(
                ("Comment",), {"id": "{id}", "postID": "{postID}", "createdAt": "{createdAt}"}
            ),
        },
    )
    for _ in range(200):
        when = make.iso()
        made.add(
            "Comment",
            id=make.uuid(),
            postID=make.hex(8),
            content=make.words(9),
            createdAt=when,
            updatedAt=when,
            owner=make.uuid(),
            _version=make.number(9),
            _lastChangedAt=int(make.moment().timestamp() * 1000),
            __typename="Comment",
            _deleted=True if make.chance(0.1) else None,
        )
    return made
