"""The way from the current design to the proposed one, in the document's order.

Five migrations, one after the other: accounts (unique addresses, `isAdmin` gone), the document's
phases 1 (profiles, shares, invites), 2 (seasons) and 3 (orders), and catalogs (private ones leave
the public index).
"""

from __future__ import annotations

from keyfold.migrations import (
    CreateTable,
    DropTable,
    EnableStream,
    EnableTtl,
    Migration,
    drop_attribute,
    fill_indexes,
    move,
    rebuild,
    transform_attribute,
)
from keyfold_systems.sellers import current, mapping
from keyfold_systems.sellers import entities as design

accounts = Migration(
    "sellers-accounts",
    [
        transform_attribute("SellersAccounts", "email", str.casefold),
        rebuild(design.Account),
        drop_attribute("SellersAccounts", "isAdmin"),
        EnableStream("SellersAccounts", design.STREAM),
    ],
    description="One account for one address; no isAdmin.",
)

profiles = Migration(
    "sellers-profiles",
    [
        CreateTable(design.profiles.schema),
        CreateTable(design.shares.schema),
        CreateTable(design.invites.schema),
        move(
            current.Profile,
            design.Profile,
            forward=mapping.profile,
            backward=mapping.profile_back,
        ),
        move(current.Share, design.Share, forward=mapping.share, backward=mapping.share_back),
        move(current.Invite, design.Invite, forward=mapping.invite, backward=mapping.invite_back),
        EnableTtl("SellersInvites", "expiresAt"),
        EnableTtl("SellersShares", "expiresAt"),
        DropTable(current.profiles.schema),
    ],
    description="Phase 1: profiles under their owner, shares and invites in tables of their own.",
)

seasons = Migration(
    "sellers-seasons",
    [
        CreateTable(design.seasons.schema),
        move(current.Season, design.Season, forward=mapping.season, backward=mapping.season_back),
        DropTable(current.seasons.schema),
    ],
    description="Phase 2: seasons under their profile.",
)

orders = Migration(
    "sellers-orders",
    [
        CreateTable(design.orders.schema),
        move(current.Order, design.Order, forward=mapping.order, backward=mapping.order_back),
        DropTable(current.orders.schema),
    ],
    description="Phase 3: orders under their season.",
)

catalogs = Migration(
    "sellers-catalogs",
    [
        fill_indexes(
            design.Catalog,
            before={
                "isPublic-createdAt-index": [
                    (("true", "{created_at:iso}"), "is_public = true"),
                    (("false", "{created_at:iso}"), "is_public = false"),
                ]
            },
        ),
        EnableStream("SellersCatalogs", design.STREAM),
    ],
    description="Private catalogs leave the public index.",
)

migrations = (accounts, profiles, seasons, orders, catalogs)
