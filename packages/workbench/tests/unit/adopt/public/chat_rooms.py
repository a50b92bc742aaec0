"""After common serverless chat tutorials: rooms, members and messages, snake_case and slashes."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(23)
    made = Public(
        "chat rooms",
        "Serverless chat tutorials",
        table("chat", "pk sk", "by_user gsi_pk gsi_sk"),
        {
            "room": Kind(("Room",), {"pk": "room/{?}", "sk": "room"}),
            "member": Kind(
                ("Member",),
                {
                    "pk": "room/{?}",
                    "sk": "member/{user_id}",
                    "gsi_pk": "user/{user_id}",
                    "gsi_sk": "room/{?}",
                },
            ),
            "message": Kind(
                ("Message",), {"pk": "room/{?}", "sk": "message/{sent_at}/{message_id}"}
            ),
            "connection": Kind(("Connection",), {"pk": "connection/{?}", "sk": "connection"}),
        },
        set(),
        held_out=True,
    )
    users = [make.uuid() for _ in range(40)]
    for _ in range(20):
        room = make.words(1) + make.hex(3)
        made.add("room", pk=f"room/{room}", sk="room", title=make.words(), created_at=make.iso())
        for user in make.random.sample(users, 5):
            made.add(
                "member",
                pk=f"room/{room}",
                sk=f"member/{user}",
                user_id=user,
                role="member",
                gsi_pk=f"user/{user}",
                gsi_sk=f"room/{room}",
                joined_at=make.iso(),
            )
        for _ in range(10):
            at, message = make.iso(), make.hex(10)
            made.add(
                "message",
                pk=f"room/{room}",
                sk=f"message/{at}/{message}",
                message_id=message,
                sent_at=at,
                author=make.one_of(*users),
                body=make.words(8),
            )
    for _ in range(25):
        connection = make.hex(12)
        made.add(
            "connection",
            pk=f"connection/{connection}",
            sk="connection",
            user=make.one_of(*users),
            expires=int(make.moment().timestamp()),
        )
    return made
