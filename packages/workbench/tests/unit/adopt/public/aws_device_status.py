"""After Amazon's developer guide, "Data modeling schemas": monitoring device status."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(6)
    made = Public(
        "device status",
        "Amazon DynamoDB developer guide, Data modeling schemas",
        table(
            "DeviceStateLog",
            "DeviceID State#Date",
            "GSI1 Operator Date",
            "GSI2 EscalatedTo State#Date",
        ),
        {
            "log": Kind(
                ("DeviceStateLog", "DeviceState", "Device", "DeviceLog"),
                {
                    "DeviceID": "{DeviceID}",
                    "State#Date": "{State}#{Date}",
                    "Operator": "{Operator}",
                    "Date": "{Date}",
                    "EscalatedTo": "{EscalatedTo}",
                },
            ),
        },
    )
    for number in range(40):
        device = f"d#{12345 + number}"
        for _ in range(8):
            state, date = make.one_of("NORMAL", "WARNING1", "WARNING2", "WARNING3"), make.iso()
            made.add(
                "log",
                DeviceID=device,
                Operator=make.one_of("Liz", "Sue", "Tom"),
                Date=date,
                State=state,
                EscalatedTo="Sara" if make.chance(0.1) else None,
                Temperature=make.number(90),
                **{"State#Date": f"{state}#{date}"},
            )
    return made
