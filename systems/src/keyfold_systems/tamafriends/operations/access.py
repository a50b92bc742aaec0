"""Who may do what, and what all operations share."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar

from keyfold import Entity, Ref, check, create, missing
from keyfold_web import (
    Arguments,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    Service,
    rule,
    upload_folder,
)
from keyfold.errors import ConditionFailed, KeyValueRefused
from keyfold.runtime import Intent
from keyfold_systems.tamafriends.addresses import block_addresses, post_address
from keyfold_systems.tamafriends.entities import Image, Post, UserProfile
from keyfold_systems.tamafriends.patterns import post_by_id, profile_by_handle
from keyfold_systems.tamafriends.payloads import NewImage
from keyfold_systems.tamafriends.views import Views

E = TypeVar("E", bound=Entity)


class Part(Service):
    """Some operations over the one database."""

    def views(self, caller: Identity) -> Views:
        """What the caller is shown."""
        return Views(self.db, caller.id, self.media)

    async def find_post(self, post_id: str) -> Post | None:
        """A post by its id: by the index, or by its key while the index does not show it yet."""
        found = await post_by_id(self.db, post_id)
        if found is None and (address := post_address(post_id)) is not None:
            found = await self.db.find(address)
        return found

    async def find_handle(self, handle: str) -> UserProfile | None:
        """Who has a handle, with or without the @; nobody has one that no key can contain."""
        with suppress(KeyValueRefused):
            return await profile_by_handle(self.db, handle.removeprefix("@"))
        return None

    async def get_post(self, post_id: str) -> Post:
        found = await self.find_post(post_id)
        if found is None:
            raise Missing.of("post", post_id)
        return found

    async def add(self, new: E, target: Ref[Any], *more: Intent, between: tuple[str, str]) -> E:
        """Write something of the second user's about the first's, if it is there and they may."""
        try:
            results = await self.db.transact(
                create(new),
                check(target),
                check(UserProfile.key(user_id=between[1])),
                *(
                    check(block, where=lambda b: missing(b.user_id))
                    for block in block_addresses(*between)
                ),
                *more,
            )
        except ConditionFailed:
            raise NotAllowed("One of you has blocked the other.", code="BLOCKED") from None
        made: E = results[0]
        return made


def own_image(user_id: str, image: NewImage) -> Image:
    """A picture that this user uploaded."""
    folder, _, name = image.key.rpartition("/")
    if folder != upload_folder(user_id) or name in ("", ".", ".."):
        raise Invalid("key", "this is not a picture that you uploaded")
    return Image(key=image.key, alt=image.alt)


@rule
async def member(service: Part, caller: Identity, _: Arguments) -> bool:
    """Somebody with an account; tokens may outlive their accounts."""
    return await service.db.find(UserProfile.key(user_id=caller.id)) is not None


@rule
async def author(service: Part, caller: Identity, arguments: Arguments) -> bool:
    post = await service.find_post(arguments["post_id"])
    return post is None or post.user_id == caller.id
