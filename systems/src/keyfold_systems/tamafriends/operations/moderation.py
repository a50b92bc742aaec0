"""Moderation: reports, removals, suspensions and roles, each with an entry in the audit trail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from keyfold import Page, Ref, create, delete, new_ulid, put, update
from keyfold_web import (
    Identity,
    Invalid,
    Missing,
    PageRequest,
    Suspending,
    Trail,
    admin,
    moderator,
    mutation,
    query,
)
from keyfold.runtime import Intent
from keyfold_systems.tamafriends.addresses import new_id
from keyfold_systems.tamafriends.entities import (
    Comment,
    Notification,
    Post,
    Report,
    Reportable,
    Role,
    UserProfile,
)
from keyfold_systems.tamafriends.operations.access import member
from keyfold_systems.tamafriends.operations.accounts import Accounts
from keyfold_systems.tamafriends.operations.reactions import Reactions
from keyfold_systems.tamafriends.oversight import AuditEntry, Suspension
from keyfold_systems.tamafriends.patterns import audit_of_month, open_reports
from keyfold_systems.tamafriends.payloads import (
    Grounds,
    NewReport,
    OwnReport,
    ReportView,
)

EXCERPT = 200


class Moderation(Suspending, Accounts, Reactions):
    """What people report, and what moderators do about it."""

    trail: ClassVar[Trail] = Trail(Report, AuditEntry, open_reports, audit_of_month)
    suspension = Suspension
    while_suspended = Suspending.while_suspended | {
        *("signOut", "signOutEverywhere", "changePassword", "deleteAccount")
    }

    def person_ref(self, user_id: str) -> Ref[UserProfile]:
        return UserProfile.key(user_id=user_id)

    async def names_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Moderators see names whoever blocks whom."""
        found = await self.db.get_many([self.person_ref(one) for one in ids])
        return {one.user_id: one.display_name for one in found if one is not None}

    @mutation(
        "/reports",
        name="report",
        allow=member,
        status=201,
        example={"input": {"kind": "user", "targetId": "omar", "reason": "spam"}},
    )
    async def report(self, input: NewReport, caller: Identity) -> OwnReport:
        """Ask moderators to look at something; who said it does not learn who asked."""
        if input.kind == "post":
            post = await self.get_post(input.target_id)
            author_id, excerpt = post.user_id, post.text
        elif input.kind == "comment":
            if input.post_id is None:
                raise Invalid("postId", "a comment is named with its post")
            said = await self.get_comment(input.post_id, input.target_id)
            author_id, excerpt = said.user_id, said.text
        else:
            profile = await self.db.get(UserProfile.key(user_id=input.target_id))
            author_id, excerpt = profile.user_id, profile.bio
        if author_id == caller.id:
            raise Invalid("targetId", "you cannot report your own content")
        report = await self.db.put(
            Report(
                **dict(input),
                user_id=caller.id,
                author_id=author_id,
                excerpt=excerpt[:EXCERPT],
                created_at=self.db.context.now(),
            )
        )
        return OwnReport.model_validate(report, from_attributes=True)

    @query("/reports", allow=moderator)
    async def reports(self, page: PageRequest) -> Page[ReportView]:
        """What waits for a decision, by what it is about."""
        found = await open_reports.after(page.cursor)(self.db, limit=page.limit)
        names = await self.names_of({id for one in found for id in (one.user_id, one.author_id)})
        shown = [
            ReportView(
                **dict(one),
                user_name=names.get(one.user_id),
                author_name=names.get(one.author_id),
            )
            for one in found
        ]
        return Page(shown, found.cursor)

    @mutation(
        "/reports/{kind}/{target_id}/dismissal",
        name="dismissReports",
        allow=moderator,
        example={"reason": "A joke among friends"},
    )
    async def dismiss_reports(
        self, kind: Reportable, target_id: str, reason: Grounds, caller: Identity
    ) -> None:
        """Decide that nothing is wrong with it."""
        if await self.db.read(Report.key.query(kind=kind, target_id=target_id).first()) is None:
            raise Missing(f'There are no reports of {kind} "{target_id}".')
        # First: no report goes without a trace.
        await self.db.transact(self._entry(caller, "dismiss", kind, target_id, reason))
        await self._close(kind, target_id)

    @mutation(
        "/moderation/posts/{post_id}/removal",
        name="removePost",
        allow=moderator,
        example={"reason": "Advertising"},
    )
    async def remove_post(self, post_id: str, reason: Grounds, caller: Identity) -> None:
        """Remove a post; its author is told why."""
        post = await self.get_post(post_id)
        await self._remove(post, "post", post_id, reason, caller)

    @mutation(
        "/moderation/posts/{post_id}/comments/{comment_id}/removal",
        name="removeComment",
        allow=moderator,
        example={"reason": "Abuse"},
    )
    async def remove_comment(
        self, post_id: str, comment_id: str, reason: Grounds, caller: Identity
    ) -> None:
        """Remove a comment; its author is told why."""
        said = await self.get_comment(post_id, comment_id)
        await self._remove(said, "comment", comment_id, reason, caller)

    @mutation(
        "/moderation/users/{user_id}/role",
        name="setRole",
        method="PUT",
        allow=admin,
        example={"role": "moderator", "reason": "Knows the neighbourhood"},
    )
    async def set_role(self, user_id: str, role: Role, reason: Grounds, caller: Identity) -> None:
        """Make somebody a moderator, an administrator, or neither."""
        await self.db.transact(
            update(UserProfile.key(user_id=user_id), role=role),
            self._entry(caller, "role", "user", user_id, f"{role}: {reason}"),
        )

    async def finish_suspension(self, user_id: str) -> None:
        """The reports about somebody are decided with it."""
        await self._close("user", user_id)

    async def _remove(
        self, item: Post | Comment, kind: Reportable, target_id: str, reason: str, caller: Identity
    ) -> None:
        now = self.db.context.now()
        told = Notification(
            user_id=item.user_id,
            notification_id=new_id(now),
            kind="removal",
            post_id=item.post_id if isinstance(item, Comment) else None,
            text=reason,
            created_at=now,
        )
        await self.db.transact(
            delete(item.ref(), must_exist=True),
            self._entry(caller, "remove", kind, target_id, reason, item.text),
            put(told),
        )
        await self._close(kind, target_id)

    async def _close(self, kind: Reportable, target_id: str) -> None:
        """Take the reports about something off the list; what was decided is in the audit."""
        await self.db.delete_collection(Report.key.query(kind=kind, target_id=target_id))

    def _entry(
        self,
        caller: Identity,
        action: str,
        kind: Reportable,
        target_id: str,
        reason: str,
        excerpt: str = "",
    ) -> Intent:
        entry = AuditEntry(
            entry_id=new_ulid(),
            at=self.db.context.now(),
            by=caller.id,
            action=action,
            subject=f"{kind} {target_id}",
            note=reason,
            excerpt=excerpt[:EXCERPT],
        )
        return create(entry)
