"""After OneTable's documentation: accounts, users and products (_type, Word#value keys)."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(13)
    made = Public(
        "accounts and products",
        "OneTable's documentation",
        table("TypeScriptTest", "pk sk", "gs1 gs1pk gs1sk"),
        {
            "Account": Kind(("Account",), {"pk": "account:{name}", "sk": "account:"}),
            "User": Kind(
                ("User",),
                {
                    "pk": "account:{accountName}",
                    "sk": "user:{email}",
                    "gs1pk": "user:{email}",
                    "gs1sk": "user:",
                },
            ),
            "Product": Kind(("Product",), {"pk": "product:{id}", "sk": "product:"}),
            "Invoice": Kind(
                ("Invoice",),
                {
                    "pk": "account:{accountName}",
                    "sk": "invoice:{id}",
                    "gs1pk": "invoice:{id}",
                    "gs1sk": "invoice:{date}",
                },
            ),
        },
        {("User", "accountName", "Account"), ("Invoice", "accountName", "Account")},
    )
    for number in range(40):
        account = f"{make.words(1)}-{number}"
        made.add(
            "Account",
            pk=f"account:{account}",
            sk="account:",
            _type="Account",
            id=make.hex(26),
            name=account,
            status=make.one_of("active", "inactive"),
            created=make.iso(),
            updated=make.iso(),
        )
        for user in range(3):
            mail = f"{make.user(user)}@{account}.example.org"
            made.add(
                "User",
                pk=f"account:{account}",
                sk=f"user:{mail}",
                _type="User",
                id=make.hex(26),
                accountName=account,
                email=mail,
                username=make.user(user),
                role="user",
                created=make.iso(),
                updated=make.iso(),
                gs1pk=f"user:{mail}",
                gs1sk="user:",
            )
        for _ in range(2):
            invoice, date = make.hex(26), make.iso()
            made.add(
                "Invoice",
                pk=f"account:{account}",
                sk=f"invoice:{invoice}",
                _type="Invoice",
                id=invoice,
                accountName=account,
                date=date,
                total=make.price(),
                created=date,
                updated=date,
                gs1pk=f"invoice:{invoice}",
                gs1sk=f"invoice:{date}",
            )
    for _ in range(30):
        product = make.hex(26)
        made.add(
            "Product",
            pk=f"product:{product}",
            sk="product:",
            _type="Product",
            id=product,
            name=make.words(2),
            price=make.price(),
            created=make.iso(),
            updated=make.iso(),
        )
    return made
