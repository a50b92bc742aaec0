"""Orders and the report over them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from decimal import Decimal

from keyfold import Page, create, new_ulid
from keyfold_systems.sellers import report
from keyfold_systems.sellers.access import order_for, require, season_for
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.parts import Part, existing, season_stays, write_checked
from keyfold_systems.sellers.patterns import (
    catalog,
    orders_of_profile,
    orders_of_season,
    season_by_id,
)
from keyfold_systems.sellers.payloads import (
    ListedOrder,
    NewOrder,
    OrderChanges,
    OrderLine,
    ReportFile,
)
from keyfold_systems.sellers.values import CleanId, LineItem
from keyfold_web import Identity, Invalid, PageRequest, authenticated, mutation, query


class OrderOperations(Part):
    """What customers ordered."""

    @mutation(
        "/orders",
        name="createOrder",
        allow=authenticated,
        status=201,
        example={
            "input": {
                "seasonId": "seasonId",
                "customerName": "Ms. Doe",
                "lineItems": [{"productId": "mint", "quantity": 3}],
                "paymentMethod": "CASH",
                "orderDate": "2030-03-02",
            }
        },
    )
    async def create_order(self, input: NewOrder, caller: Identity) -> Order:
        """Note what a customer ordered; names, prices and the total are the catalog's."""
        season = await season_for(self.db, input.season_id, caller, "WRITE")
        offered = existing(await catalog(self.db, season.catalog_id), "catalog", season.catalog_id)
        lines = priced(input.line_items, offered)
        now = self.db.context.now()
        new = Order(
            **input.model_dump(exclude={"line_items"}),
            line_items=lines,
            order_id=new_ulid(),
            profile_id=season.profile_id,
            total_amount=_total(lines),
            created_at=now,
            updated_at=now,
        )
        placed: Order = await write_checked(self.db, create(new), season_stays(season.season_id))
        return placed

    @query("/orders/{order_id}", name="getOrder", allow=authenticated)
    async def get_order(
        self, order_id: CleanId, caller: Identity, season_id: CleanId | None = None
    ) -> Order:
        """An order; with its season it is read at once, without it by a pointer."""
        return await order_for(self.db, order_id, caller, "READ", season_id)

    @query("/seasons/{season_id}/orders", name="listOrdersBySeason", allow=authenticated)
    async def list_orders_by_season(
        self, season_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Order]:
        """The orders of a season in the order of their creation."""
        await season_for(self.db, season_id, caller, "READ")
        return await orders_of_season.after(page.cursor)(self.db, season_id, limit=page.limit)

    @query("/profiles/{profile_id}/orders", name="listOrdersByProfile", allow=authenticated)
    async def list_orders_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[ListedOrder]:
        """The orders of a profile across all seasons, in the order of their creation."""
        await require(self.db, profile_id, caller, "READ")
        found = await orders_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)
        ids = sorted({one.season_id for one in found})
        seasons = dict(
            zip(ids, await self.db.get_many([Season.key(season_id=i) for i in ids]), strict=True)
        )
        shown = [ListedOrder.of(one, seasons[one.season_id]) for one in found]
        return Page(shown, found.cursor)

    @mutation("/orders/{order_id}", name="updateOrder", allow=authenticated, method="PATCH")
    async def update_order(self, order_id: CleanId, input: OrderChanges, caller: Identity) -> Order:
        """Change an order; the total follows its lines."""
        changes = input.given()
        found = await order_for(self.db, order_id, caller, "WRITE")
        if input.line_items is not None:
            season = existing(
                await season_by_id(self.db, found.season_id), "season", found.season_id
            )
            offered = existing(
                await catalog(self.db, season.catalog_id), "catalog", season.catalog_id
            )
            lines = priced(input.line_items, offered, found.line_items)
            changes |= {"line_items": lines, "total_amount": _total(lines)}
        return await self.db.update(found.ref(), **changes)

    @mutation("/orders/{order_id}", name="deleteOrder", allow=authenticated, method="DELETE")
    async def delete_order(self, order_id: CleanId, caller: Identity) -> None:
        """Delete an order."""
        await self.db.delete((await order_for(self.db, order_id, caller, "WRITE")).ref())

    @query("/seasons/{season_id}/report", name="getSeasonReport", allow=authenticated)
    async def get_season_report(self, season_id: CleanId, caller: Identity) -> report.SeasonReport:
        """What a season brought, by product and by payment."""
        season, orders = await self._season_orders(season_id, caller)
        return report.season_report(season, orders)

    @mutation("/seasons/{season_id}/report", name="requestSeasonReport", allow=authenticated)
    async def request_season_report(self, season_id: CleanId, caller: Identity) -> ReportFile:
        """All lines of a season's orders as a CSV file."""
        season, orders = await self._season_orders(season_id, caller)
        data = report.as_csv(report.rows(season, orders))
        return ReportFile(
            file_name=f"season-{season.season_id}.csv",
            media_type="text/csv",
            content=base64.b64encode(data).decode(),
        )

    async def _season_orders(self, season_id: str, caller: Identity) -> tuple[Season, list[Order]]:
        season = await season_for(self.db, season_id, caller, "READ")
        wanted = Order.by_creation.query(season_id=season_id).consistent()
        return season, [one async for one in self.db.iterate(wanted)]


def priced(
    lines: Sequence[OrderLine], offered: Catalog, agreed: Sequence[LineItem] = ()
) -> list[LineItem]:
    """Lines with the names and prices of the catalog, or with those agreed on before.

    A product that is not offered is refused, and so is another name or price than it has.
    """
    found: list[LineItem] = []
    for number, line in enumerate(lines):
        products = [
            *((one.product_name, one.price_per_unit) for one in agreed if one.of(line.product_id)),
            *((one.product_name, one.price) for one in offered.products if one.of(line.product_id)),
        ]
        if not products:
            raise Invalid(
                f"lineItems.{number}.productId",
                f"{offered.catalog_name} has no product {line.product_id!r}",
            )
        fitting = [one for one in products if line.fits(*one)]
        if not fitting:
            name, price = products[-1]
            field = "pricePerUnit" if line.product_name in (None, name) else "productName"
            raise Invalid(f"lineItems.{number}.{field}", f"it is {name} at {price:.2f}")
        name, price = fitting[0]
        found.append(
            LineItem(
                product_id=line.product_id,
                product_name=name,
                quantity=line.quantity,
                price_per_unit=price,
            )
        )
    return found


def _total(lines: Sequence[LineItem]) -> Decimal:
    return sum((line.subtotal for line in lines), Decimal(0))
