"""After Amazon's developer guide, "Data modeling schemas": the gaming profile (a leading #)."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(3)
    made = Public(
        "gaming profile",
        "Amazon DynamoDB developer guide, Data modeling schemas",
        table("GamingProfile", "PK SK"),
        {
            "metadata": Kind(
                ("Player", "Metadata", "PlayerMetadata"), {"PK": "{?}", "SK": "#METADATA#{?}"}
            ),
            "friend": Kind(("Friend",), {"PK": "{?}", "SK": "FRIENDS#{?}"}),
            "item": Kind(("Item",), {"PK": "{?}", "SK": "ITEMS#{?}#{ItemId}"}),
        },
    )
    players = [f"player{n:03d}" for n in range(1, 61)]
    for each in players:
        made.add(
            "metadata",
            PK=each,
            SK=f"#METADATA#{each}",
            Email=f"{each}@example.org",
            Level=make.number(),
            Balance=make.number(900),
            Name=make.name(),
        )
        for other in make.random.sample(players, 3):
            made.add("friend", PK=each, SK=f"FRIENDS#{other}", Since=make.day())
        for number in range(3):
            item = f"{each}-{number}"
            made.add(
                "item",
                PK=each,
                SK=f"ITEMS#{make.one_of('Shield', 'Sword', 'Potion')}#{item}",
                ItemId=item,
                Attack=make.number(50),
                Equipped=make.chance(0.4),
            )
    return made
