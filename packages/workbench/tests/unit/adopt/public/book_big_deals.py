"""After Alex DeBrie, The DynamoDB Book: Big Time Deals (days in keys, no type attribute)."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(10)
    made = Public(
        "Big Time Deals",
        "Alex DeBrie, The DynamoDB Book",
        table("BigTimeDealsTable", "PK SK", "GSI1 GSI1PK GSI1SK", "GSI2 GSI2PK GSI2SK"),
        {
            "deal": Kind(
                ("Deal",),
                {
                    "PK": "DEAL#{DealId}",
                    "SK": "DEAL#{DealId}",
                    "GSI1PK": "DEALS#{CreatedAt:day}",
                    "GSI1SK": "DEAL#{DealId}",
                    "GSI2PK": "BRAND#{Brand:upper}#{CreatedAt:day}",
                    "GSI2SK": "DEAL#{DealId}",
                },
            ),
            "brand": Kind(("Brand",), {"PK": "BRAND#{?}", "SK": "BRAND#{?}"}),
            "brandLike": Kind(
                ("BrandLike", "Brandlike"),
                {"PK": "BRANDLIKE#{?}#{Username}", "SK": "BRANDLIKE#{?}#{Username}"},
            ),
            "brandWatch": Kind(
                ("BrandWatch", "Brandwatch"), {"PK": "BRANDWATCH#{?}", "SK": "USER#{Username}"}
            ),
            "user": Kind(
                ("User",),
                {
                    "PK": "USER#{Username}",
                    "SK": "USER#{Username}",
                    "GSI1PK": "USER#{Username}",
                    "GSI1SK": "USER#{Username}",
                },
            ),
            "message": Kind(
                ("Message",),
                {
                    "PK": "MESSAGES#{Username}",
                    "SK": "MESSAGE#{MessageId}",
                    "GSI1PK": "MESSAGES#{Username}",
                    "GSI1SK": "MESSAGE#{MessageId}",
                },
            ),
        },
        {
            ("brandLike", "Username", "user"),
            ("message", "Username", "user"),
            ("brandWatch", "Username", "user"),
        },
    )
    users, brands = [make.user(n) for n in range(40)], ["Apple", "Bosch", "Canon", "Dell", "Epson"]
    for brand in brands:
        key = f"BRAND#{brand.upper()}"
        made.add(
            "brand",
            PK=key,
            SK=key,
            BrandName=brand,
            LogoUrl=f"https://example.org/{brand}",
            LikeCount=make.number(),
            WatchCount=make.number(),
        )
        for user in make.random.sample(users, 12):
            key = f"BRANDLIKE#{brand.upper()}#{user}"
            made.add("brandLike", PK=key, SK=key, BrandName=brand, Username=user)
            made.add(
                "brandWatch",
                PK=f"BRANDWATCH#{brand.upper()}",
                SK=f"USER#{user}",
                BrandName=brand,
                Username=user,
            )
    for user in users:
        key = f"USER#{user}"
        made.add(
            "user",
            PK=key,
            SK=key,
            Username=user,
            Name=make.name(),
            CreatedAt=make.iso(),
            GSI1PK=key,
            GSI1SK=key,
        )
        for _ in range(3):
            message = make.hex(20)
            unread = make.chance(0.5)
            made.add(
                "message",
                PK=f"MESSAGES#{user}",
                SK=f"MESSAGE#{message}",
                MessageId=message,
                Username=user,
                Subject=make.words(),
                Unread=str(unread),
                GSI1PK=f"MESSAGES#{user}" if unread else None,
                GSI1SK=f"MESSAGE#{message}" if unread else None,
            )
    for _ in range(120):
        deal, brand, when = make.hex(20), make.one_of(*brands), make.iso()
        made.add(
            "deal",
            PK=f"DEAL#{deal}",
            SK=f"DEAL#{deal}",
            DealId=deal,
            Title=make.words(),
            Price=make.price(),
            Category=make.one_of("Books", "Home"),
            Brand=brand,
            CreatedAt=when,
            GSI1PK=f"DEALS#{when[:10]}",
            GSI1SK=f"DEAL#{deal}",
            GSI2PK=f"BRAND#{brand.upper()}#{when[:10]}",
            GSI2SK=f"DEAL#{deal}",
        )
    for kind, attribute, fits in (
        ("brand", "PK", "BRAND#{BrandName:upper}"),
        ("brand", "SK", "BRAND#{BrandName:upper}"),
        ("brandLike", "PK", "BRANDLIKE#{BrandName:upper}#{Username}"),
        ("brandLike", "SK", "BRANDLIKE#{BrandName:upper}#{Username}"),
        ("brandWatch", "PK", "BRANDWATCH#{BrandName:upper}"),
    ):
        made.kinds[kind].keys[attribute] = fits
    return made
