"""Profiles: what people say of themselves."""

from __future__ import annotations

import secrets

from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    authenticated,
    itself,
    mutation,
    query,
    upload_folder,
)
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.operations.access import Part, member, own_image
from keyfold_systems.tamafriends.payloads import Profile, ProfileChange, Upload


class Profiles(Part):
    """People."""

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str, caller: Identity) -> Profile:
        """Somebody's profile."""
        return await self.views(caller).profile(user_id)

    @query("/users/{user_id}/account", allow=itself("user_id"))
    async def account(self, user_id: str) -> UserProfile:
        """Your own profile, with what only you see."""
        return await self.db.get(UserProfile.key(user_id=user_id))

    @query("/handles/{handle}", allow=authenticated)
    async def user_by_handle(self, handle: str, caller: Identity) -> Profile:
        """A profile by its handle, with or without the @."""
        found = await self.find_handle(handle)
        if found is None:
            raise Missing.of("user", handle)
        return await self.views(caller).profile(found.user_id)

    @mutation(
        "/users/{user_id}",
        name="editProfile",
        method="PATCH",
        allow=itself("user_id") & member,
        example={"input": {"bio": "Keeper of three"}},
    )
    async def edit_profile(
        self, user_id: str, input: ProfileChange, expected_version: int | None = None
    ) -> UserProfile:
        """Change your profile, email, username or handle."""
        profile = await self.db.get(UserProfile.key(user_id=user_id))
        if expected_version is not None:
            profile = profile.model_copy(update={"version": expected_version})
        changes = input.given()
        if input.picture is not None:
            changes["picture"] = own_image(user_id, input.picture)
        return await self.db.update(profile, **changes) if changes else profile

    @mutation(
        "/images",
        name="uploadImage",
        allow=member,
        status=201,
        example={"content_type": "image/png"},
    )
    async def upload_image(
        self, content_type: str, caller: Identity, request_id: str | None = None
    ) -> Upload:
        """A link to send a picture to; its key goes into a post or your profile."""
        if self.media is None:
            raise Conflict("This server keeps no files.", code="NO_MEDIA")
        key = f"{upload_folder(caller.id)}/{(request_id or secrets.token_hex(16))[:32]}"
        link = self.media.upload(key, content_type=content_type)
        return Upload(key=key, **dict(link))
