"""After DynamoDB-Toolbox's documentation: trainers and their pokemons (_et, computed keys)."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(22)
    made = Public(
        "Pokedex",
        "DynamoDB-Toolbox's documentation",
        table("poke-table", "partitionKey sortKey", "byLevel gsi1Pk level", level="N"),
        {
            "TRAINER": Kind(
                ("Trainer",), {"partitionKey": "TRAINER:{trainerId}", "sortKey": "ROOT"}
            ),
            "POKEMON": Kind(
                ("Pokemon",),
                {
                    "partitionKey": "TRAINER:{trainerId}",
                    "sortKey": "POKEMON:{pokemonId}",
                    "gsi1Pk": "{pokeType}",
                    "level": "{level}",
                },
            ),
            "BADGE": Kind(
                ("Badge",),
                {"partitionKey": "TRAINER:{trainerId}", "sortKey": "BADGE:{gym}:{wonOn}"},
            ),
        },
        {("POKEMON", "trainerId", "TRAINER"), ("BADGE", "trainerId", "TRAINER")},
        held_out=True,
    )
    for _ in range(30):
        trainer = make.hex(8)
        meta = {"_ct": make.iso(), "_md": make.iso()}
        made.add(
            "TRAINER",
            partitionKey=f"TRAINER:{trainer}",
            sortKey="ROOT",
            _et="TRAINER",
            trainerId=trainer,
            name=make.name(),
            **meta,
        )
        for _ in range(3):
            pokemon, kind = make.hex(8), make.one_of("fire", "water", "grass")
            made.add(
                "POKEMON",
                partitionKey=f"TRAINER:{trainer}",
                sortKey=f"POKEMON:{pokemon}",
                _et="POKEMON",
                trainerId=trainer,
                pokemonId=pokemon,
                pokeType=kind,
                gsi1Pk=kind,
                level=make.number(99),
                name=make.words(1),
                **meta,
            )
        gym, day = make.words(1), make.day()
        made.add(
            "BADGE",
            partitionKey=f"TRAINER:{trainer}",
            sortKey=f"BADGE:{gym}:{day}",
            _et="BADGE",
            trainerId=trainer,
            gym=gym,
            wonOn=day,
            **meta,
        )
    return made
