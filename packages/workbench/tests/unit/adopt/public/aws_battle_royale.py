"""After Amazon's hands-on lab "Modeling game player data with DynamoDB"."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(21)
    made = Public(
        "battle royale",
        "AWS hands-on lab, Modeling game player data",
        table("battle-royale", "PK SK", "InvertedIndex SK PK", "OpenGamesIndex map open_timestamp"),
        {
            "user": Kind(("User",), {"PK": "USER#{username}", "SK": "#METADATA#{username}"}),
            "game": Kind(
                ("Game",),
                {
                    "PK": "GAME#{game_id}",
                    "SK": "#METADATA#{game_id}",
                    "map": "{map}",
                    "open_timestamp": "{open_timestamp}",
                },
            ),
            "player": Kind(
                ("UserGame", "GameUser", "UserGameMapping", "Player"),
                {"PK": "GAME#{game_id}", "SK": "USER#{username}"},
            ),
        },
        {
            ("player", "username", "user"),
            ("player", "game_id", "game"),
            ("game", "creator", "user"),
        },
        held_out=True,
    )
    users = [make.user(n) for n in range(60)]
    for user in users:
        made.add(
            "user",
            PK=f"USER#{user}",
            SK=f"#METADATA#{user}",
            username=user,
            name=make.name(),
            email=f"{user}@example.org",
            birthdate=make.day(),
            address=make.words(),
        )
    for _ in range(30):
        game, when = make.uuid(), make.iso()
        made.add(
            "game",
            PK=f"GAME#{game}",
            SK=f"#METADATA#{game}",
            game_id=game,
            people=4,
            map=make.one_of("Green Grasslands", "Dirty Desert", "Urban Underground"),
            creator=make.one_of(*users),
            create_time=when,
            open_timestamp=when if make.chance(0.5) else None,
        )
        for user in make.random.sample(users, 4):
            made.add(
                "player",
                PK=f"GAME#{game}",
                SK=f"USER#{user}",
                game_id=game,
                username=user,
                place=make.number(50) if make.chance(0.5) else None,
            )
    return made
