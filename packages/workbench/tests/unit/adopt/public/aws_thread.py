"""After Amazon's developer guide: the Thread table of Forum, Thread and Reply."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(15)
    made = Public(
        "forum threads",
        "Amazon DynamoDB developer guide, sample tables",
        table("Thread", "ForumName Subject", "LastPostIndex ForumName LastPostDateTime"),
        {
            "thread": Kind(
                ("Thread",),
                {
                    "ForumName": "{ForumName}",
                    "Subject": "{Subject}",
                    "LastPostDateTime": "{LastPostDateTime}",
                },
            ),
        },
    )
    for number in range(150):
        made.add(
            "thread",
            ForumName=f"Amazon {make.one_of('S3', 'RDS', 'DynamoDB')}",
            Subject=f"Thread {number}",
            Message=make.words(12),
            LastPostedBy=make.name(),
            LastPostDateTime=make.iso(),
            Views=make.number(),
            Replies=make.number(),
            Answered=make.number(2),
            Tags={make.words(1), make.words(1)},
        )
    return made
