"""After Amazon's developer guide, "Data modeling schemas": recurring payments."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(5)
    made = Public(
        "recurring payments",
        "Amazon DynamoDB developer guide, Data modeling schemas",
        table("ReccuringPayments", "PK SK", "GSI1 GSI1PK NextPaymentDate"),
        {
            "subscription": Kind(
                ("Subscription", "Sub"),
                {
                    "PK": "ACC#{AccountID}",
                    "SK": "SUB#{?}#SKU#{SKU}",
                    "GSI1PK": "{NextPaymentDate}",
                    "NextPaymentDate": "{NextPaymentDate}",
                },
            ),
            "receipt": Kind(
                ("Receipt", "Rec"),
                {"PK": "ACC#{AccountID}", "SK": "REC#{ProcessedDate}#SKU#{SKU}"},
            ),
        },
    )
    for number in range(60):
        account = f"{make.number(10**9)}-{number}"
        for sku in make.random.sample(range(100, 140), 2):
            due = f"{make.moment():%Y-%m-%dT%H:%M:%SZ}"
            made.add(
                "subscription",
                PK=f"ACC#{account}",
                SK=f"SUB#{make.hex(8)}#SKU#{sku}",
                AccountID=account,
                SKU=f"{sku}",
                NextPaymentDate=due,
                GSI1PK=due,
                Email=f"a{number}@example.org",
                PaymentAmount=make.price(),
                LastReminderDate=make.day(),
                PaymentDay=make.number(28),
                TTL=make.number(10**9),
            )
            for _ in range(2):
                paid = make.iso()
                made.add(
                    "receipt",
                    PK=f"ACC#{account}",
                    SK=f"REC#{paid}#SKU#{sku}",
                    AccountID=account,
                    SKU=f"{sku}",
                    ProcessedDate=paid,
                    ProcessedAmount=make.price(),
                    Email=f"a{number}@example.org",
                    TTL=make.number(10**9),
                )
    return made
