"""After Amazon's developer guide, relational modelling: an adjacency list of plain ids."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(16)
    made = Public(
        "relational orders",
        "Amazon DynamoDB developer guide, Modeling relational data",
        table("Operations", "PK SK", "GSI1 SK Data"),
        {
            "employee": Kind(
                ("Employee", "EmployeeInfo"), {"PK": "HR-{?}", "SK": "EMPLOYEE", "Data": "{?}"}
            ),
            "quota": Kind(("Quota",), {"PK": "HR-{?}", "SK": "QUOTA-{?}", "Data": "{?}"}),
            "customer": Kind(("Customer",), {"PK": "CU-{?}", "SK": "CUSTOMER", "Data": "{?}"}),
            "order": Kind(("Order",), {"PK": "CU-{?}", "SK": "ORDER#OE-{?}", "Data": "{?}"}),
        },
    )
    for kind in made.kinds.values():
        kind.keys["Data"] = "{Data}"
    for number in range(50):
        employee = f"HR-{900 + number}"
        made.add(
            "employee",
            PK=employee,
            SK="EMPLOYEE",
            Data=f"{make.name()} {make.name()}",
            Title=make.words(2),
            Start=make.day(),
            Email=f"{employee}@example.org",
        )
        for quarter in range(1, 4):
            year = make.one_of(2024, 2025)
            made.add(
                "quota",
                PK=employee,
                SK=f"QUOTA-{year}-Q{quarter}",
                Data=f"{make.number(9**6)}",
                Target=make.number(9**6),
                Currency="EUR",
            )
    for number in range(60):
        customer = f"CU-{500 + number}"
        made.add(
            "customer",
            PK=customer,
            SK="CUSTOMER",
            Data=make.name(),
            Address=make.words(),
            Phone=make.hex(9),
        )
        made.add(
            "order",
            PK=customer,
            SK=f"ORDER#OE-{1000 + number}",
            Data=make.iso(),
            Total=make.price(),
            Agent=f"HR-{900 + make.number(50)}",
            State=make.one_of("OPEN", "CLOSED"),
        )
    return made
