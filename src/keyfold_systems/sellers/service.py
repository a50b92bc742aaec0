"""All operations of Sellers, on the proposed tables or wherever the migrations have got to."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from keyfold import AsyncDb, Design, Page, check, exists, missing, new_ulid
from keyfold.runtime import Intent
from keyfold.serve import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    Service,
    admin,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold_systems.sellers import report
from keyfold_systems.sellers.access import (
    access,
    order_for,
    require,
    require_owner,
    season_for,
)
from keyfold_systems.sellers.design import (
    Account,
    Catalog,
    CleanId,
    Invite,
    LineItem,
    Order,
    Profile,
    Season,
    Share,
    Text,
    account,
    account_by_email,
    catalog,
    design,
    my_catalogs,
    public_catalogs,
)
from keyfold_systems.sellers.layout_proposed import proposed_layout
from keyfold_systems.sellers.layouts import Layout, Layouts
from keyfold_systems.sellers.payloads import (
    CatalogChanges,
    InviteDetails,
    NewAccount,
    NewCatalog,
    NewInvite,
    NewOrder,
    NewSeason,
    NewShare,
    OrderChanges,
    ReportFile,
    ReportFormat,
    SeasonChanges,
    SellerProfile,
    seen_by_owner,
    seen_in_share,
    seen_through,
)

T = TypeVar("T")
_ALL = 200
_MEDIA = {
    "CSV": "text/csv",
    "XLSX": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class Sellers(Service):
    """Seller profiles, who shares them, their seasons, orders and catalogs."""

    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb, layouts: Layouts | None = None) -> None:
        self.db = db
        self.layouts = layouts or Layouts(None, proposed_layout(db), None)

    @mutation("/accounts", name="createMyAccount", allow=authenticated, status=201)
    async def create_my_account(self, input: NewAccount, caller: Identity) -> Account:
        """Sign up: one account for one address."""
        new = Account(account_id=caller.id, email=input.email, given_name=input.given_name)
        return await self.db.create(new)

    @query("/accounts/me", name="getMyAccount", allow=authenticated)
    async def get_my_account(self, caller: Identity) -> Account:
        """Your account."""
        return _there(await account(self.db, caller.id), "account")

    @query("/accounts/{account_id}", name="getAccount", allow=itself("account_id") | admin)
    async def get_account(self, account_id: CleanId) -> Account:
        """An account."""
        return _there(await account(self.db, account_id), "account")

    @query("/account-by-email", name="getAccountByEmail", allow=admin)
    async def get_account_by_email(self, email: str) -> Account:
        """The account with an address."""
        return _there(await account_by_email(self.db, email.casefold()), "account")

    @mutation("/profiles", name="createSellerProfile", allow=authenticated, status=201)
    async def create_seller_profile(self, seller_name: Text, caller: Identity) -> SellerProfile:
        """Found a profile; you own it."""
        async with self.layouts.writing(caller.id) as layout:
            now = self.db.context.now()
            new = Profile(
                profile_id=new_ulid(),
                owner_account_id=caller.id,
                seller_name=seller_name,
                created_at=now,
                updated_at=now,
            )
            return seen_by_owner(await layout.profiles.create(new))

    @query("/profiles/{profile_id}", name="getProfile", allow=authenticated)
    async def get_profile(self, profile_id: CleanId, caller: Identity) -> SellerProfile:
        """A profile that you own or that is shared with you."""
        async with self.layouts.reading(caller.id) as layout:
            found = await require(layout, profile_id, caller, "READ")
            if found.is_owner:
                return seen_by_owner(found.profile)
            return seen_through(found.profile, list(found.permissions))

    @query("/profiles", name="listMyProfiles", allow=authenticated)
    async def list_my_profiles(self, page: PageRequest, caller: Identity) -> Page[SellerProfile]:
        """Your profiles, oldest first."""
        async with self.layouts.reading(caller.id) as layout:
            found = await layout.profiles.owned_by(caller.id, page)
            shown = [seen_by_owner(p) for p in found if p.deleting_since is None]
            return Page(shown, found.cursor)

    @mutation(
        "/profiles/{profile_id}", name="updateSellerProfile", allow=authenticated, method="PUT"
    )
    async def update_seller_profile(
        self, profile_id: CleanId, seller_name: Text, caller: Identity
    ) -> SellerProfile:
        """Rename a profile, also where it is shown to others."""
        async with self.layouts.writing(caller.id) as layout:
            found = await require(layout, profile_id, caller, "WRITE")
            now = self.db.context.now()
            renamed = await layout.profiles.rename(found.profile, seller_name, now)
            if found.is_owner:
                return seen_by_owner(renamed)
            return seen_through(renamed, list(found.permissions))

    @mutation(
        "/profiles/{profile_id}", name="deleteSellerProfile", allow=authenticated, method="DELETE"
    )
    async def delete_seller_profile(self, profile_id: CleanId, caller: Identity) -> None:
        """Delete a profile with its shares, invites, seasons and orders.

        First nothing can be added any more; then what is there goes; the profile goes last, so
        that a deletion that was cut off can be repeated.
        """
        async with self.layouts.writing(caller.id) as layout:
            profile = await layout.profiles.find(profile_id)
            if profile is None:
                raise Missing("There is no such profile.")
            if profile.owner_account_id != caller.id and not caller.is_admin:
                raise NotAllowed("Only the owner of a profile may do this.")
            await layout.profiles.close(profile, self.db.context.now())
            async for season in _every(lambda p: layout.seasons.of_profile(profile_id, p)):
                await self._delete_season(layout, season)
            await layout.profiles.delete(profile)

    @mutation("/shares", name="shareProfileDirect", allow=authenticated, status=201)
    async def share_profile_direct(self, input: NewShare, caller: Identity) -> Share:
        """Give somebody permissions on your profile."""
        async with self.layouts.writing(caller.id) as layout:
            profile = await require_owner(layout, input.profile_id, caller)
            target = await self._target(input)
            if target == profile.owner_account_id:
                raise Invalid("targetAccountId", "the owner has all permissions already")
            return await layout.profiles.put_share(
                profile, self._new_share(profile, target, input.permissions, caller.id)
            )

    @mutation(
        "/profiles/{profile_id}/shares/{target_account_id}",
        name="revokeShare",
        allow=authenticated,
        method="DELETE",
    )
    async def revoke_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> None:
        """Take permissions back; who has them may give them up."""
        async with self.layouts.writing(caller.id) as layout:
            if target_account_id != caller.id:
                await require_owner(layout, profile_id, caller)
            await layout.profiles.delete_share(profile_id, target_account_id)

    @query(
        "/profiles/{profile_id}/shares/{target_account_id}", name="getShare", allow=authenticated
    )
    async def get_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> Share:
        """What somebody may do with a profile."""
        async with self.layouts.reading(caller.id) as layout:
            if target_account_id != caller.id:
                await require_owner(layout, profile_id, caller)
            return _there(await layout.profiles.share(profile_id, target_account_id), "share")

    @query("/profiles/{profile_id}/shares", name="listSharesByProfile", allow=authenticated)
    async def list_shares_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Share]:
        """Who may use your profile."""
        async with self.layouts.reading(caller.id) as layout:
            await require_owner(layout, profile_id, caller)
            return await layout.profiles.shares(profile_id, page)

    @query("/shared-profiles", name="listSharedProfiles", allow=authenticated)
    async def list_shared_profiles(
        self, page: PageRequest, caller: Identity
    ) -> Page[SellerProfile]:
        """The profiles shared with you, from the shares alone."""
        async with self.layouts.reading(caller.id) as layout:
            shares = await layout.profiles.shared_with(caller.id, page)
            named = await layout.profiles.names(shares.items)
            shown = []
            for share in shares:
                profile = named.get(share.profile_id)
                if profile is None:
                    shown.append(seen_in_share(share))
                elif profile.deleting_since is None:
                    shown.append(seen_through(profile, list(share.permissions)))
            return Page(shown, shares.cursor)

    @mutation("/invites", name="createProfileInvite", allow=authenticated, status=201)
    async def create_profile_invite(self, input: NewInvite, caller: Identity) -> Invite:
        """A code that somebody else can redeem."""
        async with self.layouts.writing(caller.id) as layout:
            profile = await require_owner(layout, input.profile_id, caller)
            now = self.db.context.now().replace(microsecond=0)
            new = Invite(
                invite_code=secrets.token_hex(5).upper(),
                profile_id=profile.profile_id,
                permissions=input.permissions,
                created_by_account_id=caller.id,
                created_at=self.db.context.now(),
                expires_at=now + timedelta(days=input.expires_in_days),
            )
            return await layout.profiles.create_invite(profile, new)

    @mutation("/invites/{invite_code}/redeem", name="redeemProfileInvite", allow=authenticated)
    async def redeem_profile_invite(self, invite_code: str, caller: Identity) -> SellerProfile:
        """Use a code, once: the invite and the share change together."""
        async with self.layouts.writing(caller.id) as layout:
            invite = _there(await layout.profiles.invite(invite_code), "invite")
            if invite.used_at is not None:
                raise Conflict("This invite has been used or has expired.", code="USED")
            found = await access(layout, invite.profile_id, caller)
            if found.is_owner:
                raise Conflict("You own this profile.", code="OWNER")
            share = self._new_share(
                found.profile, caller.id, invite.permissions, invite.created_by_account_id
            )
            await layout.profiles.redeem(found.profile, invite, share, self.db.context.now())
            return seen_through(found.profile, list(invite.permissions))

    @mutation(
        "/invites/{invite_code}", name="revokeProfileInvite", allow=authenticated, method="DELETE"
    )
    async def revoke_profile_invite(self, invite_code: str, caller: Identity) -> None:
        """Make a code worthless."""
        async with self.layouts.writing(caller.id) as layout:
            invite = _there(await layout.profiles.invite(invite_code), "invite")
            await require_owner(layout, invite.profile_id, caller)
            await layout.profiles.delete_invite(invite)

    @query("/profiles/{profile_id}/invites", name="listInvitesByProfile", allow=authenticated)
    async def list_invites_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Invite]:
        """The invites of your profile that have not expired."""
        async with self.layouts.reading(caller.id) as layout:
            await require_owner(layout, profile_id, caller)
            return await layout.profiles.invites(profile_id, page)

    @query("/invites/{invite_code}", name="getInviteDetails", allow=authenticated)
    async def get_invite_details(self, invite_code: str, caller: Identity) -> InviteDetails:
        """What a code would give you."""
        async with self.layouts.reading(caller.id) as layout:
            invite = _there(await layout.profiles.invite(invite_code), "invite")
            profile = _there(await layout.profiles.find(invite.profile_id), "invite")
            return InviteDetails(
                invite_code=invite.invite_code,
                profile_id=invite.profile_id,
                seller_name=profile.seller_name,
                permissions=list(invite.permissions),
                expires_at=invite.expires_at,
                used=invite.used_at is not None,
            )

    @mutation("/seasons", name="createSeason", allow=authenticated, status=201)
    async def create_season(self, input: NewSeason, caller: Identity) -> Season:
        """Start selling from a catalog."""
        _check_dates(input.start_date, input.end_date)
        async with self.layouts.writing(caller.id) as layout:
            found = await require(layout, input.profile_id, caller, "WRITE")
            usable = await self._usable(input.catalog_id, caller)
            now = self.db.context.now()
            values = input.model_dump()
            new = Season(**values, season_id=new_ulid(), created_at=now, updated_at=now)
            return await layout.seasons.create(
                new, layout.profiles.still_there(found.profile), usable
            )

    @query("/seasons/{season_id}", name="getSeason", allow=authenticated)
    async def get_season(self, season_id: CleanId, caller: Identity) -> Season:
        """A season."""
        async with self.layouts.reading(caller.id) as layout:
            season, _ = await season_for(layout, season_id, caller, "READ")
            return season

    @query("/profiles/{profile_id}/seasons", name="listSeasonsByProfile", allow=authenticated)
    async def list_seasons_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Season]:
        """The seasons of a profile in the order of their creation."""
        async with self.layouts.reading(caller.id) as layout:
            await require(layout, profile_id, caller, "READ")
            found = await layout.seasons.of_profile(profile_id, page)
            return Page([s for s in found if s.deleting_since is None], found.cursor)

    @mutation("/seasons/{season_id}", name="updateSeason", allow=authenticated, method="PATCH")
    async def update_season(
        self, season_id: CleanId, input: SeasonChanges, caller: Identity
    ) -> Season:
        """Change a season."""
        changes = _given(input)
        async with self.layouts.writing(caller.id) as layout:
            season, _ = await season_for(layout, season_id, caller, "WRITE")
            _check_dates(
                changes.get("start_date", season.start_date),
                changes.get("end_date", season.end_date),
            )
            checks = []
            if "catalog_id" in changes and changes["catalog_id"] != season.catalog_id:
                checks.append(await self._usable(changes["catalog_id"], caller))
            return await layout.seasons.update(season, self.db.context.now(), *checks, **changes)

    @mutation("/seasons/{season_id}", name="deleteSeason", allow=authenticated, method="DELETE")
    async def delete_season(self, season_id: CleanId, caller: Identity) -> None:
        """Delete a season with its orders."""
        async with self.layouts.writing(caller.id) as layout:
            season = _there(await layout.seasons.find(season_id), "season")
            await require(layout, season.profile_id, caller, "WRITE")
            await self._delete_season(layout, season)

    @mutation("/orders", name="createOrder", allow=authenticated, status=201)
    async def create_order(self, input: NewOrder, caller: Identity) -> Order:
        """Note what a customer ordered; the total is computed."""
        async with self.layouts.writing(caller.id) as layout:
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
        async with self.layouts.reading(caller.id) as layout:
            return await order_for(layout, order_id, caller, "READ")

    @query("/seasons/{season_id}/orders", name="listOrdersBySeason", allow=authenticated)
    async def list_orders_by_season(
        self, season_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Order]:
        """The orders of a season in the order of their creation."""
        async with self.layouts.reading(caller.id) as layout:
            await season_for(layout, season_id, caller, "READ")
            return await layout.orders.of_season(season_id, page)

    @query("/profiles/{profile_id}/orders", name="listOrdersByProfile", allow=authenticated)
    async def list_orders_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Order]:
        """The orders of a profile across all seasons, in the order of their creation."""
        async with self.layouts.reading(caller.id) as layout:
            await require(layout, profile_id, caller, "READ")
            return await layout.orders.of_profile(profile_id, page)

    @mutation("/orders/{order_id}", name="updateOrder", allow=authenticated, method="PATCH")
    async def update_order(self, order_id: CleanId, input: OrderChanges, caller: Identity) -> Order:
        """Change an order; the total follows its lines."""
        changes = _given(input)
        if input.line_items is not None:
            changes["line_items"] = input.line_items
            changes["total_amount"] = _total(input.line_items)
        async with self.layouts.writing(caller.id) as layout:
            order = await order_for(layout, order_id, caller, "WRITE")
            return await layout.orders.update(order, self.db.context.now(), **changes)

    @mutation("/orders/{order_id}", name="deleteOrder", allow=authenticated, method="DELETE")
    async def delete_order(self, order_id: CleanId, caller: Identity) -> None:
        """Delete an order."""
        async with self.layouts.writing(caller.id) as layout:
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

    @mutation("/catalogs", name="createCatalog", allow=authenticated, status=201)
    async def create_catalog(self, input: NewCatalog, caller: Identity) -> Catalog:
        """Offer products, for yourself or for everybody."""
        new = Catalog(
            catalog_id=new_ulid(),
            owner_account_id=caller.id,
            catalog_name=input.catalog_name,
            is_public=input.is_public,
            products=input.products,
            created_at=self.db.context.now(),
        )
        return await self.db.create(new)

    @query("/catalogs/{catalog_id}", name="getCatalog", allow=authenticated)
    async def get_catalog(self, catalog_id: CleanId) -> Catalog:
        """A catalog; who has its id may see it."""
        return _there(await catalog(self.db, catalog_id), "catalog")

    @query("/my-catalogs", name="listMyCatalogs", allow=authenticated)
    async def list_my_catalogs(self, page: PageRequest, caller: Identity) -> Page[Catalog]:
        """Your catalogs."""
        return await my_catalogs.after(page.cursor)(self.db, caller.id, limit=page.limit)

    @query("/catalogs", name="listPublicCatalogs", allow=authenticated)
    async def list_public_catalogs(self, page: PageRequest) -> Page[Catalog]:
        """Public catalogs, newest first."""
        return await public_catalogs.after(page.cursor)(self.db, limit=page.limit)

    @mutation("/catalogs/{catalog_id}", name="updateCatalog", allow=authenticated, method="PATCH")
    async def update_catalog(
        self, catalog_id: CleanId, input: CatalogChanges, caller: Identity
    ) -> Catalog:
        """Change a catalog of yours."""
        changes = _given(input)
        if input.products is not None:
            changes["products"] = input.products
        found = await self._own_catalog(catalog_id, caller)
        return await self.db.update(found, **changes)

    @query("/catalogs/{catalog_id}/usage", name="listCatalogUsage", allow=authenticated)
    async def list_catalog_usage(
        self, catalog_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Season]:
        """The seasons that sell from a catalog of yours."""
        await self._own_catalog(catalog_id, caller)
        async with self.layouts.reading(caller.id) as layout:
            return await layout.seasons.using(catalog_id, page)

    @mutation("/catalogs/{catalog_id}", name="deleteCatalog", allow=authenticated, method="DELETE")
    async def delete_catalog(self, catalog_id: CleanId, caller: Identity) -> None:
        """Delete a catalog that no season uses.

        It is closed first: from then on no season can start with it, so what the look at its
        uses finds is all there will be. In use, it is opened again.
        """
        found = await self._own_catalog(catalog_id, caller)
        async with self.layouts.writing(caller.id) as layout:
            closed = await self.db.update(found.ref(), deleting_since=self.db.context.now())
            used = await layout.seasons.using(catalog_id, PageRequest(limit=1))
            if used.items:
                await self.db.update(closed.ref(), deleting_since=None)
                raise Conflict("Seasons sell from this catalog.", code="IN_USE")
            await self.db.delete(closed.ref())

    async def _delete_season(self, layout: Layout, season: Season) -> None:
        """Close it, so that no order can be added; then its orders go, then the season."""
        await layout.seasons.close(season, self.db.context.now())
        async for order in _every(lambda p: layout.orders.of_season(season.season_id, p)):
            await layout.orders.delete(order)
        await layout.seasons.delete(season)

    async def _own_catalog(self, catalog_id: str, caller: Identity) -> Catalog:
        found = _there(await catalog(self.db, catalog_id), "catalog")
        if found.owner_account_id != caller.id and not caller.is_admin:
            raise NotAllowed("Only the owner of a catalog may do this.")
        return found

    async def _usable(self, catalog_id: str, caller: Identity) -> Intent:
        """A check that the catalog is there when the season is written."""
        found = _there(await catalog(self.db, catalog_id), "catalog")
        if not found.is_public and found.owner_account_id != caller.id and not caller.is_admin:
            raise NotAllowed("This catalog is somebody else's.")
        ref = Catalog.key(catalog_id=catalog_id)
        return check(ref, where=lambda c: exists(c.created_at) & missing(c.deleting_since))

    async def _target(self, input: NewShare) -> str:
        if input.target_account_id is not None:
            return input.target_account_id
        if input.target_account_email is None:
            raise Invalid("targetAccountEmail", "give an address or an account id")
        found = await account_by_email(self.db, input.target_account_email.casefold())
        if found is None:
            raise Invalid("targetAccountEmail", "nobody has this address")
        return found.account_id

    def _new_share(
        self, profile: Profile, target: str, permissions: tuple[Any, ...], by: str
    ) -> Share:
        return Share(
            profile_id=profile.profile_id,
            target_account_id=target,
            permissions=permissions,
            created_at=self.db.context.now(),
            created_by_account_id=by,
        )

    async def _season_orders(self, season_id: str, caller: Identity) -> tuple[Season, list[Order]]:
        async with self.layouts.reading(caller.id) as layout:
            season, _ = await season_for(layout, season_id, caller, "READ")
            found = [o async for o in _every(lambda p: layout.orders.of_season(season_id, p))]
            return season, found


def service(db: AsyncDb) -> Sellers:
    return Sellers(db)


async def _every(read: Callable[[PageRequest], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    """All items of a list, page after page."""
    cursor: str | None = None
    while True:
        page = await read(PageRequest(limit=_ALL, cursor=cursor))
        for item in page:
            yield item
        cursor = page.cursor
        if cursor is None:
            return


def _there(found: T | None, what: str) -> T:
    if found is None:
        raise Missing(f"There is no such {what}.")
    return found


def _given(input: SeasonChanges | OrderChanges | CatalogChanges) -> dict[str, Any]:
    """The fields that a caller sent with a value."""
    values = input.model_dump(exclude_unset=True, exclude={"line_items", "products"})
    return {name: value for name, value in values.items() if value is not None}


def _total(lines: list[LineItem]) -> Decimal:
    return sum((line.subtotal for line in lines), Decimal(0))


def _check_dates(start: Any, end: Any) -> None:
    if end is not None and end < start:
        raise Invalid("endDate", "a season ends after it starts")
