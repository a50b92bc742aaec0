"""After Alex DeBrie, The DynamoDB Book: the e-commerce application."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(8)
    made = Public(
        "e-commerce",
        "Alex DeBrie, The DynamoDB Book",
        table("EcommerceTable", "PK SK", "GSI1 GSI1PK GSI1SK"),
        {
            "customer": Kind(
                ("Customer",), {"PK": "CUSTOMER#{Username}", "SK": "CUSTOMER#{Username}"}
            ),
            "email": Kind(
                ("CustomerEmail", "Customeremail"),
                {"PK": "CUSTOMEREMAIL#{Email}", "SK": "CUSTOMEREMAIL#{Email}"},
            ),
            "order": Kind(
                ("Order",),
                {
                    "PK": "CUSTOMER#{Username}",
                    "SK": "#ORDER#{OrderId}",
                    "GSI1PK": "ORDER#{OrderId}",
                    "GSI1SK": "ORDER#{OrderId}",
                },
            ),
            "item": Kind(
                ("OrderItem", "Item"),
                {
                    "PK": "ORDER#{OrderId}#ITEM#{ItemId}",
                    "SK": "ORDER#{OrderId}#ITEM#{ItemId}",
                    "GSI1PK": "ORDER#{OrderId}",
                    "GSI1SK": "ITEM#{ItemId}",
                },
            ),
        },
        {("order", "Username", "customer")},
    )
    for number in range(60):
        user = make.user(number)
        mail = f"{user}@example.org"
        made.add(
            "customer",
            PK=f"CUSTOMER#{user}",
            SK=f"CUSTOMER#{user}",
            Username=user,
            Email=mail,
            Name=make.name(),
            Addresses={"Home": {"City": make.words(1)}},
        )
        made.add("email", PK=f"CUSTOMEREMAIL#{mail}", SK=f"CUSTOMEREMAIL#{mail}", Email=mail)
        for _ in range(make.number(4)):
            order = make.hex(10)
            made.add(
                "order",
                PK=f"CUSTOMER#{user}",
                SK=f"#ORDER#{order}",
                OrderId=order,
                Username=user,
                CreatedAt=make.iso(),
                Status=make.one_of("PLACED", "SHIPPED"),
                TotalAmount=make.price(),
                NumberItems=2,
                GSI1PK=f"ORDER#{order}",
                GSI1SK=f"ORDER#{order}",
            )
            for _ in range(2):
                item = make.hex(6)
                key = f"ORDER#{order}#ITEM#{item}"
                made.add(
                    "item",
                    PK=key,
                    SK=key,
                    OrderId=order,
                    ItemId=item,
                    Price=make.price(),
                    Description=make.words(),
                    GSI1PK=f"ORDER#{order}",
                    GSI1SK=f"ITEM#{item}",
                )
    return made
