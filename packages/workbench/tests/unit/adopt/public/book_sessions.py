"""After Alex DeBrie, The DynamoDB Book: the session store (a plain key)."""

from __future__ import annotations

from datetime import timedelta

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(11)
    made = Public(
        "session store",
        "Alex DeBrie, The DynamoDB Book",
        table("SessionStore", "SessionToken", "UserIndex Username"),
        {
            "session": Kind(
                ("Session", "SessionStore"),
                {"SessionToken": "{SessionToken}", "Username": "{Username}"},
            ),
        },
    )
    for number in range(200):
        when = make.moment()
        made.add(
            "session",
            SessionToken=make.uuid(),
            Username=make.user(number % 40),
            CreatedAt=make.iso_of(when),
            ExpiresAt=make.iso_of(when + timedelta(days=7)),
            TTL=int((when + timedelta(days=7)).timestamp()),
        )
    return made
