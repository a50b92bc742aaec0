"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import decimal
import keyfold_systems.sellers.values
import typing
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenList, GivenNumber

import keyfold_systems.sellers.current as of

E = TypeVar("E", bound=Entity)

class ByTargetAccountId(Query[E]):
    def after(self, *, target_account_id: str | None) -> Self: ...
    def since(self, *, target_account_id: str | None) -> Self: ...
    def before(self, *, target_account_id: str | None) -> Self: ...
    def until(self, *, target_account_id: str | None) -> Self: ...
    def begins_with(self, *, target_account_id: str | None) -> Self: ...

class ByInviteCode(Query[E]):
    def after(self, *, invite_code: str | None) -> Self: ...
    def since(self, *, invite_code: str | None) -> Self: ...
    def before(self, *, invite_code: str | None) -> Self: ...
    def until(self, *, invite_code: str | None) -> Self: ...
    def begins_with(self, *, invite_code: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class AccountKey(KeyOf[of.Account]):
    def __call__(self, *, account_id: str) -> Ref[of.Account]: ...
    def query(self, *, account_id: str) -> Query[of.Account]: ...

class AccountByEmail(KeyOf[of.Account]):
    def query(self, *, email: str) -> Query[of.Account]: ...

class Account(Entity):
    key: ClassVar[Key[AccountKey]]
    by_email: ClassVar[On[AccountByEmail]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Account],
        where: collections.abc.Callable[[of.Account], object] | None = ...,
        email: Given[str] = ...,
        given_name: Given[str] = ...,
        is_admin: Given[bool] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Account: ...
    def __moves__(
        self,
        *,
        account_id: str = ...,
        email: str = ...,
        given_name: str = ...,
        is_admin: bool = ...,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Account: ...

class ProfileKey(KeyOf[of.Profile]):
    def __call__(self, *, profile_id: str) -> Ref[of.Profile]: ...
    def query(self, *, profile_id: str) -> Query[of.Profile]: ...

class ProfileByOwner(KeyOf[of.Profile]):
    def query(self, *, owner_account_id: str) -> Query[of.Profile]: ...

class Profile(Entity):
    key: ClassVar[Key[ProfileKey]]
    by_owner: ClassVar[On[ProfileByOwner]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Profile],
        where: collections.abc.Callable[[of.Profile], object] | None = ...,
        owner_account_id: Given[str] = ...,
        seller_name: Given[str] = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        deleting_since: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Profile: ...
    def __moves__(
        self,
        *,
        profile_id: str = ...,
        owner_account_id: str = ...,
        seller_name: str = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
        deleting_since: datetime.datetime | None = ...,
    ) -> of.Profile: ...

class ShareKey(KeyOf[of.Share]):
    def __call__(self, *, profile_id: str, target_account_id: str) -> Ref[of.Share]: ...
    @overload
    def query(self, *, profile_id: str) -> ByTargetAccountId[of.Share]: ...
    @overload
    def query(self, *, profile_id: str, target_account_id: str) -> Query[of.Share]: ...

class ShareByTarget(KeyOf[of.Share]):
    def query(self, *, target_account_id: str) -> Query[of.Share]: ...

class Share(Entity):
    key: ClassVar[Key[ShareKey]]
    by_target: ClassVar[On[ShareByTarget]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Share],
        where: collections.abc.Callable[[of.Share], object] | None = ...,
        permissions: Given[tuple[typing.Literal['READ', 'WRITE'], ...]] = ...,
        created_at: Given[datetime.datetime] = ...,
        created_by_account_id: Given[str] = ...,
    ) -> of.Share: ...
    def __moves__(
        self,
        *,
        profile_id: str = ...,
        target_account_id: str = ...,
        permissions: tuple[typing.Literal['READ', 'WRITE'], ...] = ...,
        created_at: datetime.datetime = ...,
        created_by_account_id: str = ...,
    ) -> of.Share: ...

class InviteKey(KeyOf[of.Invite]):
    def __call__(self, *, profile_id: str, invite_code: str) -> Ref[of.Invite]: ...
    @overload
    def query(self, *, profile_id: str) -> ByInviteCode[of.Invite]: ...
    @overload
    def query(self, *, profile_id: str, invite_code: str) -> Query[of.Invite]: ...

class InviteByCode(KeyOf[of.Invite]):
    def query(self, *, invite_code: str) -> Query[of.Invite]: ...

class Invite(Entity):
    key: ClassVar[Key[InviteKey]]
    by_code: ClassVar[On[InviteByCode]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Invite],
        where: collections.abc.Callable[[of.Invite], object] | None = ...,
        permissions: Given[tuple[typing.Literal['READ', 'WRITE'], ...]] = ...,
        created_by_account_id: Given[str] = ...,
        created_at: Given[datetime.datetime] = ...,
        expires_at: Given[datetime.datetime] = ...,
        used_at: Given[datetime.datetime] | Clear | None = ...,
        used_by_account_id: Given[str] | Clear | None = ...,
    ) -> of.Invite: ...
    def __moves__(
        self,
        *,
        profile_id: str = ...,
        invite_code: str = ...,
        permissions: tuple[typing.Literal['READ', 'WRITE'], ...] = ...,
        created_by_account_id: str = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime = ...,
        used_at: datetime.datetime | None = ...,
        used_by_account_id: str | None = ...,
    ) -> of.Invite: ...

class SeasonKey(KeyOf[of.Season]):
    def __call__(self, *, season_id: str) -> Ref[of.Season]: ...
    def query(self, *, season_id: str) -> Query[of.Season]: ...

class SeasonByProfile(KeyOf[of.Season]):
    @overload
    def query(self, *, profile_id: str) -> ByCreatedAt[of.Season]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime) -> Query[of.Season]: ...

class SeasonByCatalog(KeyOf[of.Season]):
    def query(self, *, catalog_id: str) -> Query[of.Season]: ...

class Season(Entity):
    key: ClassVar[Key[SeasonKey]]
    by_profile: ClassVar[On[SeasonByProfile]]
    by_catalog: ClassVar[On[SeasonByCatalog]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Season],
        where: collections.abc.Callable[[of.Season], object] | None = ...,
        profile_id: Given[str] = ...,
        season_name: Given[str] = ...,
        catalog_id: Given[str] = ...,
        start_date: Given[datetime.date] = ...,
        end_date: Given[datetime.date] | Clear | None = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        deleting_since: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Season: ...
    def __moves__(
        self,
        *,
        season_id: str = ...,
        profile_id: str = ...,
        season_name: str = ...,
        catalog_id: str = ...,
        start_date: datetime.date = ...,
        end_date: datetime.date | None = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
        deleting_since: datetime.datetime | None = ...,
    ) -> of.Season: ...

class OrderKey(KeyOf[of.Order]):
    def __call__(self, *, order_id: str) -> Ref[of.Order]: ...
    def query(self, *, order_id: str) -> Query[of.Order]: ...

class OrderBySeason(KeyOf[of.Order]):
    @overload
    def query(self, *, season_id: str) -> ByCreatedAt[of.Order]: ...
    @overload
    def query(self, *, season_id: str, created_at: datetime.datetime) -> Query[of.Order]: ...

class OrderByProfile(KeyOf[of.Order]):
    @overload
    def query(self, *, profile_id: str) -> ByCreatedAt[of.Order]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime) -> Query[of.Order]: ...

class Order(Entity):
    key: ClassVar[Key[OrderKey]]
    by_season: ClassVar[On[OrderBySeason]]
    by_profile: ClassVar[On[OrderByProfile]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Order],
        where: collections.abc.Callable[[of.Order], object] | None = ...,
        season_id: Given[str] = ...,
        profile_id: Given[str] = ...,
        customer_name: Given[str] = ...,
        customer_phone: Given[str] | Clear | None = ...,
        line_items: GivenList[keyfold_systems.sellers.values.LineItem] = ...,
        total_amount: GivenNumber[decimal.Decimal] = ...,
        payment_method: Given[typing.Literal['CASH', 'CHECK', 'CREDIT_CARD', 'OTHER']] = ...,
        notes: Given[str] | Clear | None = ...,
        order_date: Given[datetime.date] = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Order: ...
    def __moves__(
        self,
        *,
        order_id: str = ...,
        season_id: str = ...,
        profile_id: str = ...,
        customer_name: str = ...,
        customer_phone: str | None = ...,
        line_items: list[keyfold_systems.sellers.values.LineItem] = ...,
        total_amount: decimal.Decimal = ...,
        payment_method: typing.Literal['CASH', 'CHECK', 'CREDIT_CARD', 'OTHER'] = ...,
        notes: str | None = ...,
        order_date: datetime.date = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Order: ...

class CatalogKey(KeyOf[of.Catalog]):
    def __call__(self, *, catalog_id: str) -> Ref[of.Catalog]: ...
    def query(self, *, catalog_id: str) -> Query[of.Catalog]: ...

class CatalogByOwner(KeyOf[of.Catalog]):
    def query(self, *, owner_account_id: str) -> Query[of.Catalog]: ...

class CatalogByNewest(KeyOf[of.Catalog]):
    @overload
    def query(self, *, is_public_str: str) -> ByCreatedAt[of.Catalog]: ...
    @overload
    def query(self, *, is_public_str: str, created_at: datetime.datetime) -> Query[of.Catalog]: ...

class Catalog(Entity):
    key: ClassVar[Key[CatalogKey]]
    by_owner: ClassVar[On[CatalogByOwner]]
    by_newest: ClassVar[On[CatalogByNewest]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Catalog],
        where: collections.abc.Callable[[of.Catalog], object] | None = ...,
        owner_account_id: Given[str] = ...,
        catalog_name: Given[str] = ...,
        is_public: Given[bool] = ...,
        is_public_str: Given[str] = ...,
        products: GivenList[keyfold_systems.sellers.values.Product] = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Catalog: ...
    def __moves__(
        self,
        *,
        catalog_id: str = ...,
        owner_account_id: str = ...,
        catalog_name: str = ...,
        is_public: bool = ...,
        is_public_str: str = ...,
        products: list[keyfold_systems.sellers.values.Product] = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Catalog: ...
