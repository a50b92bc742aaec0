"""Suspensions: what a service declares for them."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from keyfold import Design, Entity, Key
from keyfold_web import (
    AuditFields,
    Notifications,
    ReportFields,
    Service,
    Subject,
    Suspending,
    SuspensionFields,
    Suspensions,
    Trail,
    authenticated,
)
from keyfold.errors import DeclarationError

chat = Design("chat")
table = chat.table("Chat", stream="NEW_AND_OLD_IMAGES", ttl="until")


class User(Entity, table=table):
    user_id: str
    name: str
    key = Key("USER#{user_id}", "USER")


class Report(ReportFields, Entity, table=table):
    key = Key("REPORTS", "REPORT#{kind}#{subject_id}#{reporter_id}")


class AuditEntry(AuditFields, Entity, table=table):
    key = Key("AUDIT#{at:%Y-%m}", "AT#{at:iso}#{entry_id}")


class Suspension(SuspensionFields, Entity, table=table):
    key = Key("USER#{user_id}", "SUSPENSION")


TRAIL = Trail.of(chat, Report, AuditEntry)
USER = Subject(User, ["user_id"], allow=authenticated, owner="user_id", shown="name")


def without_a_person() -> type:
    class Chat(Suspending, Service):
        design: ClassVar[Design] = chat
        trail, suspension = TRAIL, Suspension

    return Chat


def without_a_suspension() -> type:
    class Chat(Suspensions, Service):
        design: ClassVar[Design] = chat
        trail, subjects = TRAIL, {"user": USER}

    return Chat


def without_its_people() -> type:
    class Chat(Suspensions, Service):
        design: ClassVar[Design] = chat
        trail, suspension, subjects = TRAIL, Suspension, {"member": USER}

    return Chat


def without_an_inbox() -> type:
    class Chat(Notifications[Any], Service):
        design: ClassVar[Design] = chat

    return Chat


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (without_a_person, "O18 .*Suspending needs `person_ref`"),
        (without_a_suspension, "O18 .*Suspending needs `suspension`"),
        (without_its_people, "O18 .*`subjects` has no 'user'"),
        (without_an_inbox, "O18 .*Notifications needs `inbox`"),
    ],
)
def test_a_service_that_lacks_what_its_parts_need_is_refused_where_it_is_declared(
    declare: Any, message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        declare()
