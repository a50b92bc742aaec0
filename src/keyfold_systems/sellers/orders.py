"""Orders and the report over them."""

from __future__ import annotations

import base64
from decimal import Decimal

from keyfold import Page, new_ulid
from keyfold.api import Identity, PageRequest, authenticated, mutation, query
from keyfold_systems.sellers import report
from keyfold_systems.sellers.access import order_for, require, season_for
from keyfold_systems.sellers.design import Order, Season
from keyfold_systems.sellers.parts import Part, every, given
from keyfold_systems.sellers.payloads import NewOrder, OrderChanges, ReportFile, ReportFormat
from keyfold_systems.sellers.values import CleanId, LineItem

_MEDIA = {
    "CSV": "text/csv",
    "XLSX": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


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
                "lineItems": [
                    {
                        "productId": "mint",
                        "productName": "Thin mint",
                        "quantity": 3,
                        "pricePerUnit": "5.50",
                    }
                ],
                "paymentMethod": "CASH",
                "orderDate": "2030-03-02",
            }
        },
    )
    async def create_order(self, input: NewOrder, caller: Identity) -> Order:
        """Note what a customer ordered; the total is computed."""
        layout = self.layout
        season, _ = await season_for(layout, input.season_id, caller, "WRITE")
        now = self.db.context.now()
        new = Order(
            **input.model_dump(exclude={"line_items"}),
            line_items=input.line_items,
            order_id=new_ulid(),
            profile_id=season.profile_id,
            total_amount=_total(input.line_items),
            created_at=now,
            updated_at=now,
        )
        return await layout.orders.create(new, layout.seasons.still_there(season))

    @query("/orders/{order_id}", name="getOrder", allow=authenticated)
    async def get_order(self, order_id: CleanId, caller: Identity) -> Order:
        """An order."""
        layout = self.layout
        return await order_for(layout, order_id, caller, "READ")

    @query("/seasons/{season_id}/orders", name="listOrdersBySeason", allow=authenticated)
    async def list_orders_by_season(
        self, season_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Order]:
        """The orders of a season in the order of their creation."""
        layout = self.layout
        await season_for(layout, season_id, caller, "READ")
        return await layout.orders.of_season(season_id, page)

    @query("/profiles/{profile_id}/orders", name="listOrdersByProfile", allow=authenticated)
    async def list_orders_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Order]:
        """The orders of a profile across all seasons, in the order of their creation."""
        layout = self.layout
        await require(layout, profile_id, caller, "READ")
        return await layout.orders.of_profile(profile_id, page)

    @mutation("/orders/{order_id}", name="updateOrder", allow=authenticated, method="PATCH")
    async def update_order(self, order_id: CleanId, input: OrderChanges, caller: Identity) -> Order:
        """Change an order; the total follows its lines."""
        changes = given(input)
        if input.line_items is not None:
            changes["total_amount"] = _total(input.line_items)
        layout = self.layout
        order = await order_for(layout, order_id, caller, "WRITE")
        return await layout.orders.update(order, self.db.context.now(), **changes)

    @mutation("/orders/{order_id}", name="deleteOrder", allow=authenticated, method="DELETE")
    async def delete_order(self, order_id: CleanId, caller: Identity) -> None:
        """Delete an order."""
        layout = self.layout
        await layout.orders.delete(await order_for(layout, order_id, caller, "WRITE"))

    @query("/seasons/{season_id}/report", name="getSeasonReport", allow=authenticated)
    async def get_season_report(self, season_id: CleanId, caller: Identity) -> report.SeasonReport:
        """What a season brought, by product and by payment."""
        season, orders = await self._season_orders(season_id, caller)
        return report.season_report(season, orders)

    @mutation("/seasons/{season_id}/report", name="requestSeasonReport", allow=authenticated)
    async def request_season_report(
        self, season_id: CleanId, caller: Identity, format: ReportFormat = "XLSX"
    ) -> ReportFile:
        """All lines of a season's orders as a file."""
        season, orders = await self._season_orders(season_id, caller)
        table = report.rows(season, orders)
        data = report.as_csv(table) if format == "CSV" else report.as_xlsx(table)
        return ReportFile(
            file_name=f"season-{season.season_id}.{format.lower()}",
            media_type=_MEDIA[format],
            content=base64.b64encode(data).decode(),
        )

    async def _season_orders(self, season_id: str, caller: Identity) -> tuple[Season, list[Order]]:
        layout = self.layout
        season, _ = await season_for(layout, season_id, caller, "READ")
        found = [o async for o in every(lambda p: layout.orders.of_season(season_id, p))]
        return season, found


def _total(lines: list[LineItem]) -> Decimal:
    return sum((line.subtotal for line in lines), Decimal(0))
