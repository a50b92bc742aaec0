"""Uses of entities with written types that type checkers accept."""

from __future__ import annotations

from datetime import datetime, timedelta

from keyfold import AsyncDb, Db, Page, Query, add, check, clear, create, delete, remove, update

from .entities import (
    Answer,
    GroupHangout,
    Hangout,
    Membership,
    Response,
    User,
    design,
)


@design.pattern(requests=1)
def coming(group_id: str, now: datetime, limit: int = 20) -> Query[GroupHangout]:
    query = GroupHangout.by_time.query(group_id=group_id).since(starts_at=now)
    return query.where(lambda p: p.title == "x").limit(limit)


@design.pattern(requests=1)
def on_day(group_id: str, day: datetime, until: datetime | None = None) -> Query[GroupHangout]:
    query = GroupHangout.by_time.query(group_id=group_id)
    return query.since(starts_at=day + timedelta(days=1)).until(starts_at=until)


def together(db: Db, h: Hangout) -> str:
    hangout, user = db.get_together(h.ref(), User.key(user_id="u"))
    named = db.read(Membership.key.query(group_id="g").begins_with(user_id="a"))
    return hangout.title + user.name + named[0].user_name if hangout and user else ""


def use(db: Db, h: Hangout, now: datetime) -> str:
    renamed: Hangout = db.update(h, title="x", where=lambda h: h.going == 0)
    db.update(h.ref(), group_ids=add({"g"}), user_ids=remove({"u"}))
    db.update(h, created_at=clear, updated_at=None)
    said = db.update(Response.key(hangout_id="h", user_id="u"), answer=Answer.MAYBE)
    said.answer.value.upper()
    member = db.get(Membership.key(group_id="g", user_id="u"))
    moved: Membership = db.move(member, user_id="v")
    page: Page[Membership] = db.read(Membership.by_user.query(user_id="u").after(group_id="g"))
    one = db.read(Membership.key.query(group_id="g", user_id="u").descending().limit(1))
    made, changed, gone, seen = db.transact(
        create(User(user_id="u", name="n")),
        update(h, title="y"),
        delete(member),
        check(User.key(user_id="v")),
    )
    assert gone is None
    assert seen is None
    old: Membership | None = db.delete(moved, returning=True)
    names = made.name + changed.title + renamed.title + page[0].user_name + one[0].group_name
    return names + (old.user_name if old is not None else "")


async def use_async(db: AsyncDb, h: Hangout, now: datetime) -> str:
    page = await coming(db, "g", now)
    renamed = await db.update(h, title="x")
    made, changed = await db.transact(
        create(User(user_id="u", name="n")), update(Hangout.key(hangout_id="h"), title="y")
    )
    assert changed is not None
    return page[0].title + renamed.title + made.name + changed.title
