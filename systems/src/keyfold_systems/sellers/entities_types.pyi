"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import decimal
import keyfold.maintain.cascade
import keyfold.maintain.unique
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

import keyfold_systems.sellers.entities as of

E = TypeVar("E", bound=Entity)

class ByProfileId(Query[E]):
    def after(self, *, profile_id: str | None) -> Self: ...
    def since(self, *, profile_id: str | None) -> Self: ...
    def before(self, *, profile_id: str | None) -> Self: ...
    def until(self, *, profile_id: str | None) -> Self: ...
    def begins_with(self, *, profile_id: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

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

class BySeasonId(Query[E]):
    def after(self, *, season_id: str | None) -> Self: ...
    def since(self, *, season_id: str | None) -> Self: ...
    def before(self, *, season_id: str | None) -> Self: ...
    def until(self, *, season_id: str | None) -> Self: ...
    def begins_with(self, *, season_id: str | None) -> Self: ...

class ByOrderId(Query[E]):
    def after(self, *, order_id: str | None) -> Self: ...
    def since(self, *, order_id: str | None) -> Self: ...
    def before(self, *, order_id: str | None) -> Self: ...
    def until(self, *, order_id: str | None) -> Self: ...
    def begins_with(self, *, order_id: str | None) -> Self: ...

class ByNoticeId(Query[E]):
    def after(self, *, notice_id: str | None) -> Self: ...
    def since(self, *, notice_id: str | None) -> Self: ...
    def before(self, *, notice_id: str | None) -> Self: ...
    def until(self, *, notice_id: str | None) -> Self: ...
    def begins_with(self, *, notice_id: str | None) -> Self: ...

class AccountKey(KeyOf[of.Account]):
    def __call__(self, *, account_id: str) -> Ref[of.Account]: ...
    def query(self, *, account_id: str) -> Query[of.Account]: ...

class AccountByEmail(KeyOf[of.Account]):
    def query(self, *, email: str) -> Query[of.Account]: ...

class Account(Entity):
    key: ClassVar[Key[AccountKey]]
    by_email: ClassVar[On[AccountByEmail]]
    one_email: ClassVar[keyfold.maintain.unique.Unique]
    shares: ClassVar[keyfold.maintain.cascade.Cascade]
    notices: ClassVar[keyfold.maintain.cascade.Cascade]
    told: ClassVar[keyfold.maintain.cascade.Cascade]
    unread: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Account],
        where: collections.abc.Callable[[of.Account], object] | None = ...,
        email: Given[str] = ...,
        given_name: Given[str] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        deleting_since: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Account: ...
    def __moves__(
        self,
        *,
        account_id: str = ...,
        email: str = ...,
        given_name: str = ...,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
        deleting_since: datetime.datetime | None = ...,
    ) -> of.Account: ...

class ProfileKey(KeyOf[of.Profile]):
    def __call__(self, *, profile_id: str) -> Ref[of.Profile]: ...
    def query(self, *, profile_id: str) -> Query[of.Profile]: ...

class Profile(Entity):
    key: ClassVar[Key[ProfileKey]]
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

class ProfileOfOwnerKey(KeyOf[of.ProfileOfOwner]):
    def __call__(self, *, owner_account_id: str, profile_id: str) -> Ref[of.ProfileOfOwner]: ...
    @overload
    def query(self, *, owner_account_id: str) -> ByProfileId[of.ProfileOfOwner]: ...
    @overload
    def query(self, *, owner_account_id: str, profile_id: str) -> Query[of.ProfileOfOwner]: ...

class ProfileOfOwnerByCreation(KeyOf[of.ProfileOfOwner]):
    @overload
    def query(self, *, owner_account_id: str) -> ByCreatedAt[of.ProfileOfOwner]: ...
    @overload
    def query(self, *, owner_account_id: str, created_at: datetime.datetime) -> ByProfileId[of.ProfileOfOwner]: ...
    @overload
    def query(self, *, owner_account_id: str, created_at: datetime.datetime, profile_id: str) -> Query[of.ProfileOfOwner]: ...

class ProfileOfOwner(Entity):
    key: ClassVar[Key[ProfileOfOwnerKey]]
    by_creation: ClassVar[On[ProfileOfOwnerByCreation]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.ProfileOfOwner],
        where: collections.abc.Callable[[of.ProfileOfOwner], object] | None = ...,
    ) -> of.ProfileOfOwner: ...

class ShareKey(KeyOf[of.Share]):
    def __call__(self, *, profile_id: str, target_account_id: str) -> Ref[of.Share]: ...
    @overload
    def query(self, *, profile_id: str) -> ByTargetAccountId[of.Share]: ...
    @overload
    def query(self, *, profile_id: str, target_account_id: str) -> Query[of.Share]: ...

class ShareByTarget(KeyOf[of.Share]):
    @overload
    def query(self, *, target_account_id: str) -> ByCreatedAt[of.Share]: ...
    @overload
    def query(self, *, target_account_id: str, created_at: datetime.datetime) -> Query[of.Share]: ...

class Share(Entity):
    key: ClassVar[Key[ShareKey]]
    by_target: ClassVar[On[ShareByTarget]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Share],
        where: collections.abc.Callable[[of.Share], object] | None = ...,
        permissions: Given[tuple[typing.Literal['READ', 'WRITE'], ...]] = ...,
        owner_account_id: Given[str] | Clear | None = ...,
        seller_name: Given[str] | Clear | None = ...,
        profile_created_at: Given[datetime.datetime] | Clear | None = ...,
        profile_updated_at: Given[datetime.datetime] | Clear | None = ...,
        created_at: Given[datetime.datetime] = ...,
        created_by_account_id: Given[str] = ...,
    ) -> of.Share: ...
    def __moves__(
        self,
        *,
        profile_id: str = ...,
        target_account_id: str = ...,
        permissions: tuple[typing.Literal['READ', 'WRITE'], ...] = ...,
        owner_account_id: str | None = ...,
        seller_name: str | None = ...,
        profile_created_at: datetime.datetime | None = ...,
        profile_updated_at: datetime.datetime | None = ...,
        created_at: datetime.datetime = ...,
        created_by_account_id: str = ...,
    ) -> of.Share: ...

class InviteKey(KeyOf[of.Invite]):
    def __call__(self, *, invite_code: str) -> Ref[of.Invite]: ...
    def query(self, *, invite_code: str) -> Query[of.Invite]: ...

class Invite(Entity):
    key: ClassVar[Key[InviteKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Invite],
        where: collections.abc.Callable[[of.Invite], object] | None = ...,
        profile_id: Given[str] = ...,
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
        invite_code: str = ...,
        profile_id: str = ...,
        permissions: tuple[typing.Literal['READ', 'WRITE'], ...] = ...,
        created_by_account_id: str = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime = ...,
        used_at: datetime.datetime | None = ...,
        used_by_account_id: str | None = ...,
    ) -> of.Invite: ...

class InviteOfProfileKey(KeyOf[of.InviteOfProfile]):
    def __call__(self, *, profile_id: str, created_at: datetime.datetime, invite_code: str) -> Ref[of.InviteOfProfile]: ...
    @overload
    def query(self, *, profile_id: str) -> ByCreatedAt[of.InviteOfProfile]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime) -> ByInviteCode[of.InviteOfProfile]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime, invite_code: str) -> Query[of.InviteOfProfile]: ...

class InviteOfProfile(Entity):
    key: ClassVar[Key[InviteOfProfileKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.InviteOfProfile],
        where: collections.abc.Callable[[of.InviteOfProfile], object] | None = ...,
    ) -> of.InviteOfProfile: ...

class SeasonKey(KeyOf[of.Season]):
    def __call__(self, *, season_id: str) -> Ref[of.Season]: ...
    def query(self, *, season_id: str) -> Query[of.Season]: ...

class Season(Entity):
    key: ClassVar[Key[SeasonKey]]
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

class SeasonOfProfileKey(KeyOf[of.SeasonOfProfile]):
    def __call__(self, *, profile_id: str, season_id: str) -> Ref[of.SeasonOfProfile]: ...
    @overload
    def query(self, *, profile_id: str) -> BySeasonId[of.SeasonOfProfile]: ...
    @overload
    def query(self, *, profile_id: str, season_id: str) -> Query[of.SeasonOfProfile]: ...

class SeasonOfProfileByCreation(KeyOf[of.SeasonOfProfile]):
    @overload
    def query(self, *, profile_id: str) -> ByCreatedAt[of.SeasonOfProfile]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime) -> BySeasonId[of.SeasonOfProfile]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime, season_id: str) -> Query[of.SeasonOfProfile]: ...

class SeasonOfProfile(Entity):
    key: ClassVar[Key[SeasonOfProfileKey]]
    by_creation: ClassVar[On[SeasonOfProfileByCreation]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.SeasonOfProfile],
        where: collections.abc.Callable[[of.SeasonOfProfile], object] | None = ...,
    ) -> of.SeasonOfProfile: ...

class CatalogUseKey(KeyOf[of.CatalogUse]):
    def __call__(self, *, catalog_id: str, season_id: str) -> Ref[of.CatalogUse]: ...
    @overload
    def query(self, *, catalog_id: str) -> BySeasonId[of.CatalogUse]: ...
    @overload
    def query(self, *, catalog_id: str, season_id: str) -> Query[of.CatalogUse]: ...

class CatalogUse(Entity):
    key: ClassVar[Key[CatalogUseKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.CatalogUse],
        where: collections.abc.Callable[[of.CatalogUse], object] | None = ...,
    ) -> of.CatalogUse: ...

class OrderKey(KeyOf[of.Order]):
    def __call__(self, *, season_id: str, order_id: str) -> Ref[of.Order]: ...
    @overload
    def query(self, *, season_id: str) -> ByOrderId[of.Order]: ...
    @overload
    def query(self, *, season_id: str, order_id: str) -> Query[of.Order]: ...

class OrderByCreation(KeyOf[of.Order]):
    @overload
    def query(self, *, season_id: str) -> ByCreatedAt[of.Order]: ...
    @overload
    def query(self, *, season_id: str, created_at: datetime.datetime) -> ByOrderId[of.Order]: ...
    @overload
    def query(self, *, season_id: str, created_at: datetime.datetime, order_id: str) -> Query[of.Order]: ...

class OrderByProfile(KeyOf[of.Order]):
    @overload
    def query(self, *, profile_id: str) -> ByCreatedAt[of.Order]: ...
    @overload
    def query(self, *, profile_id: str, created_at: datetime.datetime) -> Query[of.Order]: ...

class Order(Entity):
    key: ClassVar[Key[OrderKey]]
    by_creation: ClassVar[On[OrderByCreation]]
    by_profile: ClassVar[On[OrderByProfile]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Order],
        where: collections.abc.Callable[[of.Order], object] | None = ...,
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

class OrderByIdKey(KeyOf[of.OrderById]):
    def __call__(self, *, order_id: str) -> Ref[of.OrderById]: ...
    def query(self, *, order_id: str) -> Query[of.OrderById]: ...

class OrderById(Entity):
    key: ClassVar[Key[OrderByIdKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.OrderById],
        where: collections.abc.Callable[[of.OrderById], object] | None = ...,
    ) -> of.OrderById: ...

class CatalogKey(KeyOf[of.Catalog]):
    def __call__(self, *, catalog_id: str) -> Ref[of.Catalog]: ...
    def query(self, *, catalog_id: str) -> Query[of.Catalog]: ...

class CatalogByOwner(KeyOf[of.Catalog]):
    def query(self, *, owner_account_id: str) -> Query[of.Catalog]: ...

class CatalogByNewest(KeyOf[of.Catalog]):
    @overload
    def query(self) -> ByCreatedAt[of.Catalog]: ...
    @overload
    def query(self, *, created_at: datetime.datetime) -> Query[of.Catalog]: ...

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
        products: GivenList[keyfold_systems.sellers.values.Product] = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        deleting_since: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Catalog: ...
    def __moves__(
        self,
        *,
        catalog_id: str = ...,
        owner_account_id: str = ...,
        catalog_name: str = ...,
        is_public: bool = ...,
        products: list[keyfold_systems.sellers.values.Product] = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
        deleting_since: datetime.datetime | None = ...,
    ) -> of.Catalog: ...

class NoticeKey(KeyOf[of.Notice]):
    def __call__(self, *, user_id: str, created_at: datetime.datetime, notice_id: str) -> Ref[of.Notice]: ...
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Notice]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByNoticeId[of.Notice]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, notice_id: str) -> Query[of.Notice]: ...

class NoticeByActor(KeyOf[of.Notice]):
    @overload
    def query(self, *, actor_id: str) -> ByCreatedAt[of.Notice]: ...
    @overload
    def query(self, *, actor_id: str, created_at: datetime.datetime) -> Query[of.Notice]: ...

class Notice(Entity):
    key: ClassVar[Key[NoticeKey]]
    by_actor: ClassVar[On[NoticeByActor]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Notice],
        where: collections.abc.Callable[[of.Notice], object] | None = ...,
        actor_id: Given[str] | Clear | None = ...,
        subject_id: Given[str] | Clear | None = ...,
        text: Given[str] = ...,
        read: Given[bool] = ...,
        kind: Given[typing.Literal['shared', 'permissions_changed', 'invite_redeemed', 'removed']] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Notice: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        notice_id: str = ...,
        actor_id: str | None = ...,
        subject_id: str | None = ...,
        text: str = ...,
        created_at: datetime.datetime = ...,
        read: bool = ...,
        kind: typing.Literal['shared', 'permissions_changed', 'invite_redeemed', 'removed'] = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Notice: ...

class UnreadCounterKey(KeyOf[of.UnreadCounter]):
    def __call__(self, *, user_id: str) -> Ref[of.UnreadCounter]: ...
    def query(self, *, user_id: str) -> Query[of.UnreadCounter]: ...

class UnreadCounter(Entity):
    key: ClassVar[Key[UnreadCounterKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UnreadCounter],
        where: collections.abc.Callable[[of.UnreadCounter], object] | None = ...,
    ) -> of.UnreadCounter: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
    ) -> of.UnreadCounter: ...
