"""Seasons and their orders."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from keyfold import Page, create, new_ulid
from keyfold_systems.sellers import patterns
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.operations.access import Part, stays
from keyfold_systems.sellers.values import CleanId, LineItem
from keyfold_systems.sellers.views import (
    NewOrder,
    NewSeason,
    OrderChange,
    OrderLine,
    Report,
    SeasonChange,
)
from keyfold_web import (
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    authenticated,
    mutation,
    query,
    related,
)

HEADER = "Order date,Customer,Phone,Product,Quantity,Unit price,Amount,Payment,Notes\r\n"


class Selling(Part):
    """Seasons and orders; who knows the parent's id reads from the table, not from an index."""

    @mutation("/seasons", allow=authenticated, status=201)
    async def create_season(self, input: NewSeason, caller: Identity) -> Season:
        """Create a season that sells from a catalog."""
        _check_dates(input.start_date, input.end_date)
        found = await self.require(input.profile_id, caller, "WRITE")
        await self._check_catalog(input.catalog_id, caller)
        now = self.db.context.now()
        new = Season(season_id=new_ulid(), created_at=now, **dict(input))
        made, _ = await self.db.transact(create(new), stays(found.profile))
        return made

    @query("/seasons/{season_id}", allow=authenticated)
    async def get_season(
        self, season_id: CleanId, caller: Identity, profile_id: CleanId | None = None
    ) -> Season:
        """A season."""
        return await self.season_for(season_id, profile_id, caller, "READ")

    @related(Season)
    async def catalog(self, parents: list[Season]) -> list[Catalog | None]:
        """What a season sells."""
        return await self.db.get_many([Catalog.key(catalog_id=one.catalog_id) for one in parents])

    @related(Order)
    async def season(self, parents: list[Order]) -> list[Season | None]:
        """The season of an order."""
        refs = [Season.key(profile_id=one.profile_id, season_id=one.season_id) for one in parents]
        return await self.db.get_many(refs)

    @query("/profiles/{profile_id}/seasons", allow=authenticated)
    async def list_seasons_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Season]:
        """The seasons of a profile."""
        await self.require(profile_id, caller, "READ")
        return await page.read(self.db, patterns.seasons_of_profile, profile_id)

    @mutation("/seasons/{season_id}", allow=authenticated, method="PATCH")
    async def update_season(
        self, season_id: CleanId, input: SeasonChange, caller: Identity
    ) -> Season:
        """Change a season."""
        changes = input.given()
        profile_id = changes.pop("profile_id", None)
        season = await self.season_for(season_id, profile_id, caller, "WRITE")
        after = season.model_copy(update=changes)
        _check_dates(after.start_date, after.end_date)
        if after.catalog_id != season.catalog_id:
            await self._check_catalog(after.catalog_id, caller)
        return await self.db.update(season.ref(), **changes)

    @mutation("/seasons/{season_id}", allow=authenticated, method="DELETE")
    async def delete_season(
        self, season_id: CleanId, caller: Identity, profile_id: CleanId | None = None
    ) -> None:
        """Delete a season with its orders."""
        found = await self.season_for(season_id, profile_id, caller, "WRITE")
        await self.db.delete(found.ref())

    @mutation("/orders", allow=authenticated, status=201)
    async def create_order(self, input: NewOrder, caller: Identity) -> Order:
        """Create an order; names, prices and the total come from the catalog."""
        season = await self.season_for(input.season_id, input.profile_id, caller, "WRITE")
        lines = priced(input.line_items, await self._offered(season))
        new = Order(
            **input.model_dump(exclude={"line_items", "profile_id"}),
            line_items=lines,
            order_id=new_ulid(),
            profile_id=season.profile_id,
            total_amount=_total(lines),
            created_at=self.db.context.now(),
        )
        return await self.db.create(new)

    @query("/orders/{order_id}", allow=authenticated)
    async def get_order(
        self, order_id: CleanId, caller: Identity, season_id: CleanId | None = None
    ) -> Order:
        """An order."""
        return await self.order_for(order_id, season_id, caller, "READ")

    @query("/seasons/{season_id}/orders", allow=authenticated)
    async def list_orders_by_season(
        self,
        season_id: CleanId,
        page: PageRequest,
        caller: Identity,
        profile_id: CleanId | None = None,
    ) -> Page[Order]:
        """The orders of a season."""
        await self.season_for(season_id, profile_id, caller, "READ")
        return await page.read(self.db, patterns.orders_of_season, season_id)

    @query("/profiles/{profile_id}/orders", allow=authenticated)
    async def list_orders_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Order]:
        """The orders of a profile across all seasons, oldest first."""
        await self.require(profile_id, caller, "READ")
        return await page.read(self.db, patterns.orders_of_profile, profile_id)

    @mutation("/orders/{order_id}", allow=authenticated, method="PATCH")
    async def update_order(self, order_id: CleanId, input: OrderChange, caller: Identity) -> Order:
        """Change an order; the total follows its lines."""
        changes = input.given()
        season_id = changes.pop("season_id", None)
        found = await self.order_for(order_id, season_id, caller, "WRITE")
        if input.line_items is not None:
            season = await patterns.season(self.db, found.profile_id, found.season_id)
            offered = await self._offered(Missing.unless(season, "season", found.season_id))
            lines = priced(input.line_items, offered, found.line_items)
            changes |= {"line_items": lines, "total_amount": _total(lines)}
        return await self.db.update(found.ref(), **changes)

    @mutation("/orders/{order_id}", allow=authenticated, method="DELETE")
    async def delete_order(
        self, order_id: CleanId, caller: Identity, season_id: CleanId | None = None
    ) -> None:
        """Delete an order."""
        await self.db.delete((await self.order_for(order_id, season_id, caller, "WRITE")).ref())

    @mutation("/seasons/{season_id}/report", allow=authenticated)
    async def request_season_report(self, season_id: CleanId, caller: Identity) -> Report:
        """All lines of a season's orders as a CSV file."""
        season = await self.season_for(season_id, None, caller, "READ")
        out = io.StringIO()
        out.write(HEADER)
        write = csv.writer(out).writerow
        async for one in self.db.iterate(Order.key.query(season_id=season_id).consistent()):
            who = (one.order_date, _safe(one.customer_name), _safe(one.customer_phone or ""))
            for line in one.line_items:
                sums = (line.quantity, f"{line.price_per_unit:.2f}", f"{line.subtotal:.2f}")
                rest = (one.payment_method, _safe(one.notes or ""))
                write([*who, _safe(line.product_name), *sums, *rest])
        return Report(
            file_name=f"season-{season.season_id}.csv",
            media_type="text/csv",
            content=base64.b64encode(out.getvalue().encode("utf-8-sig")).decode(),
        )

    async def _offered(self, season: Season) -> Catalog:
        found = await patterns.catalog(self.db, season.catalog_id)
        return Missing.unless(found, "catalog", season.catalog_id)

    async def _check_catalog(self, catalog_id: str, caller: Identity) -> None:
        """Refuse a catalog that the caller may not sell from. The write counts it there."""
        found = Missing.unless(await patterns.catalog(self.db, catalog_id), "catalog", catalog_id)
        mine = found.owner_account_id == caller.id or caller.is_admin
        if not mine and found.is_public_str != "true":
            raise NotAllowed("This catalog belongs to another account.")


def priced(
    lines: Sequence[OrderLine], offered: Catalog, agreed: Sequence[LineItem] = ()
) -> list[LineItem]:
    """Lines with the names and prices of the catalog, or with those agreed on before.

    A product that is not offered is refused, and so is another name or price than it has.
    """
    found: list[LineItem] = []
    for number, line in enumerate(lines):
        wanted = line.product_id
        products = [
            *((a.product_name, a.price_per_unit) for a in agreed if a.product_id == wanted),
            *((p.product_name, p.price) for p in offered.products if p.product_id == wanted),
        ]
        if not products:
            raise Invalid(
                f"lineItems.{number}.productId",
                f"{offered.catalog_name} has no product {wanted!r}",
            )
        fitting = [one for one in products if line.fits(*one)]
        if not fitting:
            name, price = products[-1]
            field = "pricePerUnit" if line.product_name in (None, name) else "productName"
            raise Invalid(f"lineItems.{number}.{field}", f"it is {name} at {price:.2f}")
        name, price = fitting[0]
        found.append(
            LineItem(
                product_id=wanted,
                product_name=name,
                quantity=line.quantity,
                price_per_unit=price,
            )
        )
    return found


def _total(lines: Sequence[LineItem]) -> Decimal:
    return sum((line.subtotal for line in lines), Decimal(0))


def _check_dates(start: date, end: date | None) -> None:
    if end is not None and end < start:
        raise Invalid("endDate", "must not be before the start")


def _safe(text: str) -> str:
    """Text that a spreadsheet would run as a formula is shown as text."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
