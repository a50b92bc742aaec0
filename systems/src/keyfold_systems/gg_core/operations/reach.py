"""How sources reach their followers, as it was decided, and how an administrator overrules it."""

from __future__ import annotations

from typing import Literal

from keyfold import delete, put
from keyfold_web import Identity, Missing, admin, mutation, query
from keyfold.errors import NotFound
from keyfold_systems.gg_core.entities import Follow, GroupMember, Promotion, User, home
from keyfold_systems.gg_core.operations.access import Part
from keyfold_systems.gg_core.payloads import Reach, Reason, Thresholds, Way


class Reaches(Part):
    """Who gets copies, and why."""

    @mutation("/promotions/{actor_id}", name="promote", method="PUT", allow=admin)
    async def promote(
        self,
        actor_id: str,
        fanout_enabled: bool,
        caller: Identity,
        reason: Literal["followers", "volume", "manual"] = "manual",
        thresholds: Thresholds | None = None,
    ) -> Promotion:
        """Decide whether the activities of a user or group are copied to their followers.

        Thresholds are what the decision was made by; they are kept with it.
        """
        if await self.db.find(User.key(id=actor_id)) is None and not await self.is_group(actor_id):
            raise Missing.of("user or group", actor_id)
        flag = Promotion(
            user_id=actor_id,
            fanout_enabled=fanout_enabled,
            reason=reason,
            thresholds=thresholds or {},
        )
        action = f"promote {'on' if fanout_enabled else 'off'}"
        entry = self.audited(caller, action, f"source {actor_id}", reason)
        made: Promotion = (await self.db.transact(put(flag), entry))[0]
        return made

    @mutation("/promotions/{actor_id}", name="endPromotion", method="DELETE", allow=admin)
    async def end_promotion(self, actor_id: str, caller: Identity) -> None:
        """Let the policy decide again how somebody's activities reach their followers."""
        entry = self.audited(caller, "end promotion", f"source {actor_id}")
        over = delete(Promotion.key(user_id=actor_id), must_exist=True)
        try:
            await self.db.transact(over, entry)
        except NotFound:
            raise Missing(f'"{actor_id}" has no promotion.') from None

    @query("/promotions/{actor_id}/explanation", allow=admin)
    async def explain_reach(self, actor_id: str) -> Reach:
        """How somebody's activities reach their followers, and why."""
        found = await home.reach(self.db, actor_id)
        reasons = [Reason(follower_id=one, reason=why) for one, why in found.reasons.items()]
        return Reach(
            posts=found.posts,
            followers=found.followers,
            copied=found.copied,
            promoted=found.promoted,
            reasons=reasons,
        )

    @query("/promotions/{actor_id}/followers/{follower_id}", allow=admin)
    async def explain_way(self, actor_id: str, follower_id: str) -> Way:
        """How one follower gets somebody's activities, and what the policy says of it now."""
        if not await self._is_followed(actor_id, follower_id):
            raise Missing(f'"{follower_id}" does not follow "{actor_id}".')
        found = await home.explain(self.db, follower_id, actor_id)
        return Way(mode=found.mode, saving=found.saving, price=found.price, reason=found.reason)

    async def _is_followed(self, actor_id: str, follower_id: str) -> bool:
        follow = Follow.key(follower_id=follower_id, followee_id=actor_id)
        member = GroupMember.key(group_id=actor_id, user_id=follower_id)
        return any(await self.db.get_many([follow, member]))
