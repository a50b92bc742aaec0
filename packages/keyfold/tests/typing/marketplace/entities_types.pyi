"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import decimal
import keyfold.maintain.average
import keyfold.maintain.unique
import typing
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenNumber, GivenSet

import tests.typing.marketplace.entities as of

E = TypeVar("E", bound=Entity)

class ByShopId(Query[E]):
    def after(self, *, shop_id: str | None) -> Self: ...
    def since(self, *, shop_id: str | None) -> Self: ...
    def before(self, *, shop_id: str | None) -> Self: ...
    def until(self, *, shop_id: str | None) -> Self: ...
    def begins_with(self, *, shop_id: str | None) -> Self: ...

class ByTitle(Query[E]):
    def after(self, *, title: str | None) -> Self: ...
    def since(self, *, title: str | None) -> Self: ...
    def before(self, *, title: str | None) -> Self: ...
    def until(self, *, title: str | None) -> Self: ...
    def begins_with(self, *, title: str | None) -> Self: ...

class ByProductId(Query[E]):
    def after(self, *, product_id: str | None) -> Self: ...
    def since(self, *, product_id: str | None) -> Self: ...
    def before(self, *, product_id: str | None) -> Self: ...
    def until(self, *, product_id: str | None) -> Self: ...
    def begins_with(self, *, product_id: str | None) -> Self: ...

class ByPrice(Query[E]):
    def after(self, *, price: decimal.Decimal | None) -> Self: ...
    def since(self, *, price: decimal.Decimal | None) -> Self: ...
    def before(self, *, price: decimal.Decimal | None) -> Self: ...
    def until(self, *, price: decimal.Decimal | None) -> Self: ...

class ByUserId(Query[E]):
    def after(self, *, user_id: str | None) -> Self: ...
    def since(self, *, user_id: str | None) -> Self: ...
    def before(self, *, user_id: str | None) -> Self: ...
    def until(self, *, user_id: str | None) -> Self: ...
    def begins_with(self, *, user_id: str | None) -> Self: ...

class ByAt(Query[E]):
    def after(self, *, at: datetime.datetime | None) -> Self: ...
    def since(self, *, at: datetime.datetime | None) -> Self: ...
    def before(self, *, at: datetime.datetime | None) -> Self: ...
    def until(self, *, at: datetime.datetime | None) -> Self: ...

class ByOrderId(Query[E]):
    def after(self, *, order_id: str | None) -> Self: ...
    def since(self, *, order_id: str | None) -> Self: ...
    def before(self, *, order_id: str | None) -> Self: ...
    def until(self, *, order_id: str | None) -> Self: ...
    def begins_with(self, *, order_id: str | None) -> Self: ...

class ByTotal(Query[E]):
    def after(self, *, total: decimal.Decimal | None) -> Self: ...
    def since(self, *, total: decimal.Decimal | None) -> Self: ...
    def before(self, *, total: decimal.Decimal | None) -> Self: ...
    def until(self, *, total: decimal.Decimal | None) -> Self: ...

class ByNumber(Query[E]):
    def after(self, *, number: int | None) -> Self: ...
    def since(self, *, number: int | None) -> Self: ...
    def before(self, *, number: int | None) -> Self: ...
    def until(self, *, number: int | None) -> Self: ...

class ByFollowerId(Query[E]):
    def after(self, *, follower_id: str | None) -> Self: ...
    def since(self, *, follower_id: str | None) -> Self: ...
    def before(self, *, follower_id: str | None) -> Self: ...
    def until(self, *, follower_id: str | None) -> Self: ...
    def begins_with(self, *, follower_id: str | None) -> Self: ...

class ByNewsId(Query[E]):
    def after(self, *, news_id: str | None) -> Self: ...
    def since(self, *, news_id: str | None) -> Self: ...
    def before(self, *, news_id: str | None) -> Self: ...
    def until(self, *, news_id: str | None) -> Self: ...
    def begins_with(self, *, news_id: str | None) -> Self: ...

class ByEntryId(Query[E]):
    def after(self, *, entry_id: str | None) -> Self: ...
    def since(self, *, entry_id: str | None) -> Self: ...
    def before(self, *, entry_id: str | None) -> Self: ...
    def until(self, *, entry_id: str | None) -> Self: ...
    def begins_with(self, *, entry_id: str | None) -> Self: ...

class UserKey(KeyOf[of.User]):
    def __call__(self, *, user_id: str) -> Ref[of.User]: ...
    def query(self, *, user_id: str) -> Query[of.User]: ...

class User(Entity):
    key: ClassVar[Key[UserKey]]
    one_email: ClassVar[keyfold.maintain.unique.Unique]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.User],
        where: collections.abc.Callable[[of.User], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        email: Given[str] = ...,
        name: Given[str] = ...,
        addresses: Given[dict[str, of.Address]] = ...,
    ) -> of.User: ...
    def __moves__(
        self,
        *,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
        user_id: str = ...,
        email: str = ...,
        name: str = ...,
        addresses: dict[str, of.Address] = ...,
    ) -> of.User: ...

class ShopKey(KeyOf[of.Shop]):
    def __call__(self, *, shop_id: str) -> Ref[of.Shop]: ...
    def query(self, *, shop_id: str) -> Query[of.Shop]: ...

class ShopByCity(KeyOf[of.Shop]):
    @overload
    def query(self, *, address_city: str) -> ByShopId[of.Shop]: ...
    @overload
    def query(self, *, address_city: str, shop_id: str) -> Query[of.Shop]: ...

class Shop(Entity):
    key: ClassVar[Key[ShopKey]]
    by_city: ClassVar[On[ShopByCity]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Shop],
        where: collections.abc.Callable[[of.Shop], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        owner_id: Given[str] = ...,
        title: Given[str] = ...,
        address: Given[of.Address] = ...,
        state: Given[typing.Literal['open', 'closed']] = ...,
    ) -> of.Shop: ...
    def __moves__(
        self,
        *,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
        shop_id: str = ...,
        owner_id: str = ...,
        title: str = ...,
        address: of.Address = ...,
        state: typing.Literal['open', 'closed'] = ...,
    ) -> of.Shop: ...

class ProductKey(KeyOf[of.Product]):
    def __call__(self, *, product_id: str) -> Ref[of.Product]: ...
    def query(self, *, product_id: str) -> Query[of.Product]: ...

class ProductByShop(KeyOf[of.Product]):
    @overload
    def query(self, *, shop_id: str) -> ByTitle[of.Product]: ...
    @overload
    def query(self, *, shop_id: str, title: str) -> ByProductId[of.Product]: ...
    @overload
    def query(self, *, shop_id: str, title: str, product_id: str) -> Query[of.Product]: ...

class ProductByPrice(KeyOf[of.Product]):
    @overload
    def query(self, *, category: str) -> ByPrice[of.Product]: ...
    @overload
    def query(self, *, category: str, price: decimal.Decimal) -> ByProductId[of.Product]: ...
    @overload
    def query(self, *, category: str, price: decimal.Decimal, product_id: str) -> Query[of.Product]: ...

class Product(Entity):
    rating: ClassVar[keyfold.maintain.average.Average]
    key: ClassVar[Key[ProductKey]]
    by_shop: ClassVar[On[ProductByShop]]
    by_price: ClassVar[On[ProductByPrice]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Product],
        where: collections.abc.Callable[[of.Product], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        shop_id: Given[str] = ...,
        title: Given[str] = ...,
        category: Given[str] = ...,
        price: GivenNumber[decimal.Decimal] = ...,
        stock: GivenNumber[int] = ...,
        tags: GivenSet[str] = ...,
    ) -> of.Product: ...
    def __moves__(
        self,
        *,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
        product_id: str = ...,
        shop_id: str = ...,
        title: str = ...,
        category: str = ...,
        price: decimal.Decimal = ...,
        stock: int = ...,
        tags: set[str] = ...,
    ) -> of.Product: ...

class TaggedKey(KeyOf[of.Tagged]):
    def __call__(self, *, tag: str, product_id: str) -> Ref[of.Tagged]: ...
    @overload
    def query(self, *, tag: str) -> ByProductId[of.Tagged]: ...
    @overload
    def query(self, *, tag: str, product_id: str) -> Query[of.Tagged]: ...

class Tagged(Entity):
    key: ClassVar[Key[TaggedKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Tagged],
        where: collections.abc.Callable[[of.Tagged], object] | None = ...,
        refuse: Exception | None = ...,
    ) -> of.Tagged: ...

class HoldKey(KeyOf[of.Hold]):
    def __call__(self, *, product_id: str, user_id: str) -> Ref[of.Hold]: ...
    @overload
    def query(self, *, product_id: str) -> ByUserId[of.Hold]: ...
    @overload
    def query(self, *, product_id: str, user_id: str) -> Query[of.Hold]: ...

class HoldByUser(KeyOf[of.Hold]):
    @overload
    def query(self, *, user_id: str) -> ByProductId[of.Hold]: ...
    @overload
    def query(self, *, user_id: str, product_id: str) -> Query[of.Hold]: ...

class Hold(Entity):
    key: ClassVar[Key[HoldKey]]
    by_user: ClassVar[On[HoldByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Hold],
        where: collections.abc.Callable[[of.Hold], object] | None = ...,
        refuse: Exception | None = ...,
        pieces: GivenNumber[int] = ...,
        until: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Hold: ...
    def __moves__(
        self,
        *,
        product_id: str = ...,
        user_id: str = ...,
        pieces: int = ...,
        until: datetime.datetime | None = ...,
    ) -> of.Hold: ...

class CartLineKey(KeyOf[of.CartLine]):
    def __call__(self, *, user_id: str, product_id: str) -> Ref[of.CartLine]: ...
    @overload
    def query(self, *, user_id: str) -> ByProductId[of.CartLine]: ...
    @overload
    def query(self, *, user_id: str, product_id: str) -> Query[of.CartLine]: ...

class CartLine(Entity):
    key: ClassVar[Key[CartLineKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.CartLine],
        where: collections.abc.Callable[[of.CartLine], object] | None = ...,
        refuse: Exception | None = ...,
        pieces: GivenNumber[int] = ...,
    ) -> of.CartLine: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        product_id: str = ...,
        pieces: int = ...,
    ) -> of.CartLine: ...

class OrderKey(KeyOf[of.Order]):
    def __call__(self, *, order_id: str) -> Ref[of.Order]: ...
    def query(self, *, order_id: str) -> Query[of.Order]: ...

class OrderByUser(KeyOf[of.Order]):
    @overload
    def query(self, *, user_id: str) -> ByAt[of.Order]: ...
    @overload
    def query(self, *, user_id: str, at: datetime.datetime) -> ByOrderId[of.Order]: ...
    @overload
    def query(self, *, user_id: str, at: datetime.datetime, order_id: str) -> Query[of.Order]: ...

class OrderByTotal(KeyOf[of.Order]):
    @overload
    def query(self, *, shop_id: str, state: of.OrderState) -> ByTotal[of.Order]: ...
    @overload
    def query(self, *, shop_id: str, state: of.OrderState, total: decimal.Decimal) -> ByOrderId[of.Order]: ...
    @overload
    def query(self, *, shop_id: str, state: of.OrderState, total: decimal.Decimal, order_id: str) -> Query[of.Order]: ...

class OrderByMonth(KeyOf[of.Order]):
    def query(self, *, shop_id: str, at: datetime.datetime) -> ByAt[of.Order]: ...

class Order(Entity):
    key: ClassVar[Key[OrderKey]]
    by_user: ClassVar[On[OrderByUser]]
    by_total: ClassVar[On[OrderByTotal]]
    by_month: ClassVar[On[OrderByMonth]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Order],
        where: collections.abc.Callable[[of.Order], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        user_id: Given[str] = ...,
        shop_id: Given[str] = ...,
        at: Given[datetime.datetime] = ...,
        total: GivenNumber[decimal.Decimal] = ...,
        state: Given[of.OrderState] = ...,
    ) -> of.Order: ...
    def __moves__(
        self,
        *,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
        order_id: str = ...,
        user_id: str = ...,
        shop_id: str = ...,
        at: datetime.datetime = ...,
        total: decimal.Decimal = ...,
        state: of.OrderState = ...,
    ) -> of.Order: ...

class OrderLineKey(KeyOf[of.OrderLine]):
    def __call__(self, *, order_id: str, number: int) -> Ref[of.OrderLine]: ...
    @overload
    def query(self, *, order_id: str) -> ByNumber[of.OrderLine]: ...
    @overload
    def query(self, *, order_id: str, number: int) -> Query[of.OrderLine]: ...

class OrderLine(Entity):
    key: ClassVar[Key[OrderLineKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.OrderLine],
        where: collections.abc.Callable[[of.OrderLine], object] | None = ...,
        refuse: Exception | None = ...,
        product_id: Given[str] = ...,
        pieces: GivenNumber[int] = ...,
        price: GivenNumber[decimal.Decimal] = ...,
    ) -> of.OrderLine: ...
    def __moves__(
        self,
        *,
        order_id: str = ...,
        number: int = ...,
        product_id: str = ...,
        pieces: int = ...,
        price: decimal.Decimal = ...,
    ) -> of.OrderLine: ...

class PaymentKey(KeyOf[of.Payment]):
    def __call__(self, *, order_id: str) -> Ref[of.Payment]: ...
    def query(self, *, order_id: str) -> Query[of.Payment]: ...

class Payment(Entity):
    key: ClassVar[Key[PaymentKey]]
    one_reference: ClassVar[keyfold.maintain.unique.Unique]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Payment],
        where: collections.abc.Callable[[of.Payment], object] | None = ...,
        refuse: Exception | None = ...,
        reference: Given[str] = ...,
        means: Given[of.Card | of.Transfer] = ...,
    ) -> of.Payment: ...
    def __moves__(
        self,
        *,
        order_id: str = ...,
        reference: str = ...,
        means: of.Card | of.Transfer = ...,
    ) -> of.Payment: ...

class ReviewKey(KeyOf[of.Review]):
    def __call__(self, *, product_id: str, user_id: str) -> Ref[of.Review]: ...
    @overload
    def query(self, *, product_id: str) -> ByUserId[of.Review]: ...
    @overload
    def query(self, *, product_id: str, user_id: str) -> Query[of.Review]: ...

class ReviewByUser(KeyOf[of.Review]):
    @overload
    def query(self, *, user_id: str) -> ByAt[of.Review]: ...
    @overload
    def query(self, *, user_id: str, at: datetime.datetime) -> ByProductId[of.Review]: ...
    @overload
    def query(self, *, user_id: str, at: datetime.datetime, product_id: str) -> Query[of.Review]: ...

class Review(Entity):
    key: ClassVar[Key[ReviewKey]]
    by_user: ClassVar[On[ReviewByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Review],
        where: collections.abc.Callable[[of.Review], object] | None = ...,
        refuse: Exception | None = ...,
        at: Given[datetime.datetime] = ...,
        stars: GivenNumber[int] = ...,
        text: Given[str] = ...,
    ) -> of.Review: ...
    def __moves__(
        self,
        *,
        product_id: str = ...,
        user_id: str = ...,
        at: datetime.datetime = ...,
        stars: int = ...,
        text: str = ...,
    ) -> of.Review: ...

class FollowKey(KeyOf[of.Follow]):
    def __call__(self, *, follower_id: str, shop_id: str) -> Ref[of.Follow]: ...
    @overload
    def query(self, *, follower_id: str) -> ByShopId[of.Follow]: ...
    @overload
    def query(self, *, follower_id: str, shop_id: str) -> Query[of.Follow]: ...

class FollowFollowers(KeyOf[of.Follow]):
    @overload
    def query(self, *, shop_id: str) -> ByFollowerId[of.Follow]: ...
    @overload
    def query(self, *, shop_id: str, follower_id: str) -> Query[of.Follow]: ...

class Follow(Entity):
    key: ClassVar[Key[FollowKey]]
    followers: ClassVar[On[FollowFollowers]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Follow],
        where: collections.abc.Callable[[of.Follow], object] | None = ...,
        refuse: Exception | None = ...,
    ) -> of.Follow: ...
    def __moves__(
        self,
        *,
        follower_id: str = ...,
        shop_id: str = ...,
    ) -> of.Follow: ...

class NewsKey(KeyOf[of.News]):
    def __call__(self, *, shop_id: str, at: datetime.datetime, news_id: str) -> Ref[of.News]: ...
    @overload
    def query(self, *, shop_id: str) -> ByAt[of.News]: ...
    @overload
    def query(self, *, shop_id: str, at: datetime.datetime) -> ByNewsId[of.News]: ...
    @overload
    def query(self, *, shop_id: str, at: datetime.datetime, news_id: str) -> Query[of.News]: ...

class News(Entity):
    key: ClassVar[Key[NewsKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.News],
        where: collections.abc.Callable[[of.News], object] | None = ...,
        refuse: Exception | None = ...,
        text: Given[str] = ...,
    ) -> of.News: ...
    def __moves__(
        self,
        *,
        shop_id: str = ...,
        at: datetime.datetime = ...,
        news_id: str = ...,
        text: str = ...,
    ) -> of.News: ...

class FeedItemKey(KeyOf[of.FeedItem]):
    def __call__(self, *, follower_id: str, at: datetime.datetime, news_id: str) -> Ref[of.FeedItem]: ...
    @overload
    def query(self, *, follower_id: str) -> ByAt[of.FeedItem]: ...
    @overload
    def query(self, *, follower_id: str, at: datetime.datetime) -> ByNewsId[of.FeedItem]: ...
    @overload
    def query(self, *, follower_id: str, at: datetime.datetime, news_id: str) -> Query[of.FeedItem]: ...

class FeedItem(Entity):
    key: ClassVar[Key[FeedItemKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.FeedItem],
        where: collections.abc.Callable[[of.FeedItem], object] | None = ...,
        refuse: Exception | None = ...,
        shop_id: Given[str] = ...,
        text: Given[str] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.FeedItem: ...
    def __moves__(
        self,
        *,
        follower_id: str = ...,
        shop_id: str = ...,
        at: datetime.datetime = ...,
        news_id: str = ...,
        text: str = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.FeedItem: ...

class AuditEntryKey(KeyOf[of.AuditEntry]):
    def __call__(self, *, at: datetime.datetime, entry_id: str) -> Ref[of.AuditEntry]: ...
    def query(self, *, at: datetime.datetime) -> ByAt[of.AuditEntry]: ...

class AuditEntry(Entity):
    key: ClassVar[Key[AuditEntryKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.AuditEntry],
        where: collections.abc.Callable[[of.AuditEntry], object] | None = ...,
        refuse: Exception | None = ...,
        actor_id: Given[str] = ...,
        action: Given[str] = ...,
    ) -> of.AuditEntry: ...
    def __moves__(
        self,
        *,
        entry_id: str = ...,
        at: datetime.datetime = ...,
        actor_id: str = ...,
        action: str = ...,
    ) -> of.AuditEntry: ...
