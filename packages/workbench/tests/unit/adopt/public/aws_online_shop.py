"""After Amazon's developer guide, "Data modeling schemas": the online shop."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(1)
    made = Public(
        "online shop",
        "Amazon DynamoDB developer guide, Data modeling schemas",
        table("OnlineShop", "PK SK", "GSI1 EntityType SK", "GSI2 GSI2PK GSI2SK"),
        {
            "customer": Kind(("Customer",), {"PK": "c#{CustomerId}", "SK": "c#{CustomerId}"}),
            "product": Kind(("Product",), {"PK": "p#{ProductId}", "SK": "p#{ProductId}"}),
            "warehouse": Kind(("Warehouse",), {"PK": "w#{WarehouseId}", "SK": "w#{WarehouseId}"}),
            "warehouseItem": Kind(
                ("WarehouseItem",), {"PK": "p#{ProductId}", "SK": "w#{WarehouseId}"}
            ),
            "order": Kind(
                ("Order",),
                {
                    "PK": "o#{OrderId}",
                    "SK": "c#{CustomerId}",
                    "GSI2PK": "c#{CustomerId}",
                    "GSI2SK": "{Date}",
                },
            ),
            "orderItem": Kind(
                ("OrderItem",),
                {
                    "PK": "o#{OrderId}",
                    "SK": "p#{ProductId}",
                    "GSI2PK": "p#{ProductId}",
                    "GSI2SK": "{Date}",
                },
            ),
            "invoice": Kind(
                ("Invoice",),
                {
                    "PK": "o#{OrderId}",
                    "SK": "i#{InvoiceId}",
                    "GSI2PK": "i#{InvoiceId}",
                    "GSI2SK": "i#{InvoiceId}",
                },
            ),
            "shipment": Kind(
                ("Shipment",),
                {
                    "PK": "o#{OrderId}",
                    "SK": "sh#{ShipmentId}",
                    "GSI2PK": "w#{WarehouseId}",
                    "GSI2SK": "{Date}",
                },
            ),
            "shipmentItem": Kind(
                ("ShipmentItem",),
                {
                    "PK": "o#{OrderId}",
                    "SK": "shp#{ShipItemId}",
                    "GSI2PK": "sh#{ShipmentId}",
                    "GSI2SK": "p#{ProductId}",
                },
            ),
        },
        {
            ("warehouseItem", "ProductId", "product"),
            ("warehouseItem", "WarehouseId", "warehouse"),
            ("order", "CustomerId", "customer"),
            ("orderItem", "ProductId", "product"),
            ("shipment", "WarehouseId", "warehouse"),
            ("shipmentItem", "ProductId", "product"),
        },
    )
    products = [f"{n}" for n in range(12345, 12375)]
    customers = [f"{n}" for n in range(5000, 5040)]
    houses = [f"{n}" for n in range(71, 77)]
    for each in customers:
        made.add(
            "customer",
            PK=f"c#{each}",
            SK=f"c#{each}",
            EntityType="customer",
            CustomerId=each,
            Name=make.name(),
            Email=f"{each}@example.org",
        )
    for each in products:
        made.add(
            "product",
            PK=f"p#{each}",
            SK=f"p#{each}",
            EntityType="product",
            ProductId=each,
            Price=make.price(),
            Description=make.words(),
        )
        for house in make.random.sample(houses, 2):
            made.add(
                "warehouseItem",
                PK=f"p#{each}",
                SK=f"w#{house}",
                EntityType="warehouseItem",
                ProductId=each,
                WarehouseId=house,
                Quantity=make.number(),
            )
    for each in houses:
        made.add(
            "warehouse",
            PK=f"w#{each}",
            SK=f"w#{each}",
            EntityType="warehouse",
            WarehouseId=each,
            Address={"City": make.words(1), "Street": make.words(2)},
        )
    for number in range(80):
        order, customer, date = f"{90000 + number}", make.one_of(*customers), make.iso()
        made.add(
            "order",
            PK=f"o#{order}",
            SK=f"c#{customer}",
            EntityType="order",
            OrderId=order,
            CustomerId=customer,
            Date=date,
            GSI2PK=f"c#{customer}",
            GSI2SK=date,
        )
        invoice, shipment, house = f"{55000 + number}", f"{88000 + number}", make.one_of(*houses)
        made.add(
            "invoice",
            PK=f"o#{order}",
            SK=f"i#{invoice}",
            EntityType="invoice",
            OrderId=order,
            InvoiceId=invoice,
            Amount=make.price(),
            Date=date,
            GSI2PK=f"i#{invoice}",
            GSI2SK=f"i#{invoice}",
        )
        made.add(
            "shipment",
            PK=f"o#{order}",
            SK=f"sh#{shipment}",
            EntityType="shipment",
            OrderId=order,
            ShipmentId=shipment,
            WarehouseId=house,
            Date=date,
            Address=make.words(),
            Type="Express",
            GSI2PK=f"w#{house}",
            GSI2SK=date,
        )
        for position, product in enumerate(make.random.sample(products, 2)):
            made.add(
                "orderItem",
                PK=f"o#{order}",
                SK=f"p#{product}",
                EntityType="orderItem",
                OrderId=order,
                ProductId=product,
                Quantity=make.number(9),
                Price=make.price(),
                Date=date,
                GSI2PK=f"p#{product}",
                GSI2SK=date,
            )
            item = f"{shipment}{position}"
            made.add(
                "shipmentItem",
                PK=f"o#{order}",
                SK=f"shp#{item}",
                EntityType="shipmentItem",
                OrderId=order,
                ShipItemId=item,
                ShipmentId=shipment,
                ProductId=product,
                Quantity=make.number(9),
                GSI2PK=f"sh#{shipment}",
                GSI2SK=f"p#{product}",
            )
    return made
