"""Several writes to one item in one transaction become one, with all their conditions."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import Counter, Design, Entity, Id, Key, check, delete
from keyfold.errors import ConditionFailed

design = Design("joined")
table = design.table("Joined")


class Club(Entity, table=table):
    club_id: Id
    members: Annotated[int, Counter("Member")] = 0
    owners: Annotated[int, Counter("Member", where=lambda m: m.owner == True)] = 0  # noqa: E712
    key = Key("CLUB#{club_id}", "CLUB")


class Member(Entity, table=table):
    club_id: Id
    user_id: Id
    owner: bool = False
    key = Key("CLUB#{club_id}", "MEMBER#{user_id}")


def test_a_check_holds_although_two_counters_of_its_item_move() -> None:
    with design.open(":memory:") as db:
        club = db.create(Club(club_id="c"))
        only = db.create(Member(club_id="c", user_id="u", owner=True))
        with pytest.raises(ConditionFailed):
            db.transact(delete(only), check(club.ref(), where=lambda c: c.owners > 1))
        stored = db.get(club.ref())
        assert (stored.members, stored.owners) == (1, 1)
        db.create(Member(club_id="c", user_id="v", owner=True))
        db.transact(delete(only), check(club.ref(), where=lambda c: c.owners > 1))
        stored = db.get(club.ref())
        assert (stored.members, stored.owners) == (1, 1)
