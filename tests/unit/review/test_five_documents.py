"""The five documents: what is wrong with each of them is found, and nothing else is said."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from keyfold.design.file import dumps, load, loads
from keyfold.design.schema import Schema
from keyfold.review.check import Review, check

ROOT = Path(__file__).parents[3]

EXPECTED: dict[str, dict[str, list[str]]] = {
    "inviter": {
        "K3": ["GroupMembership on UserGroupIndex"],
        "Q4": ["Group feed", "Groups of a user", "Hangouts of a user"],
        "Q8": ["Hangouts of a user"],
        "Q9": ["Hangouts of a user"],
        "Q10": ["Hangouts of a user"],
        "X9": ["HangoutPointer on EntityTimeIndex"],
        "X11": ["HangoutPointer on EntityTimeIndex"],
        "X15": ["UserGroupIndex and EntityTimeIndex"],
        "W1": ["createHangout on Hangout", "createHangout on HangoutPointer"],
        "W2": ["updateHangoutTitle on Hangout", "updateHangoutTitle on HangoutPointer"],
        "W3": ["updateHangoutTitle", "createHangout"],
        "W4": ["HangoutPointer", "GroupMembership"],
        "W6": ["Hangout.associatedGroups"],
        "W7": ["Hangout.associatedGroups"],
    },
    "search_room": {
        "K1": ["Activity"],
        "K6": ["Listing on ExternalIdIndex", "Listing on StatusIndex"],
        "K7": ["UserCriteria", "CombinedCriteria", "Compatibility"],
        "K8": ["UserCriteria", "CombinedCriteria", "Compatibility"],
        "K13": ["Listing on ExternalIdIndex"],
        "Q1": ["Get activities after timestamp"],
        "Q4": [
            "Get room members",
            "Get user's rooms",
            "All items of a room",
            "Get all room listings",
            "Get listings by status",
            "Get all users' criteria",
            "Get room activities",
            "Get activities after timestamp",
            "Get compatibility history",
        ],
        "Q6": ["Get activities after timestamp"],
        "Q11": ["Find by external ID"],
        "X5": ["Listing.roomId, sourceBrand, externalId"],
        "X9": ["Listing on StatusIndex"],
        "X11": ["Listing on StatusIndex"],
        "X14": ["Add listing"],
        "W1": ["Add listing on Listing"],
        "W2": ["Mark listing seen on Listing"],
        "W3": ["Join room", "Delete room"],
        "W4": ["UserRoom"],
        "W6": ["Listing.seenBy"],
        "W7": ["Listing.seenBy"],
        "W8": ["UserCriteria", "CombinedCriteria", "Compatibility"],
        "M3": ["StatusIndex in Add GSIs"],
        "M6": ["Backfill GSI attributes"],
        "M7": ["Backfill GSI attributes"],
        "D3": ["UserCriteria"],
    },
    "tamafriends": {
        "K1": ["COMMENT on GSI2"],
        "K2": ["USER_PROFILE", "POST", "FOLLOW", "COMMENT", "LIKE"],
        "K8": ["COMMENT on GSI2"],
        "K13": ["USER_PROFILE on GSI1", "USER_PROFILE on GSI2", "USER_PROFILE on GSI3"],
        "Q2": ["User's comments", "User's liked posts"],
        "Q4": ["Get user's followers", "User's comments", "User's liked posts"],
        "Q7": ["User's liked posts"],
        "X2": ["FOLLOW on GSI1 and GSI2"],
        "X3": ["FOLLOW on GSI2"],
        "X5": ["USER_PROFILE.email", "USER_PROFILE.username", "USER_PROFILE.handle"],
        "X9": ["USER_PROFILE on GSI1", "USER_PROFILE on GSI2", "USER_PROFILE on GSI3"],
        "X12": ["Follow counters"],
        "X13": ["USER_PROFILE on GSI2", "FOLLOW on GSI2"],
        "S1": [
            "likes of a post",
            "comments of a post",
            "followers of a user",
            "users a user follows",
        ],
        "S3": ["Like counters", "Follow counters"],
        "S4": ["Like counters", "Comment counters", "Follow counters"],
        "D2": ["the rule of GSI2"],
    },
    "gg_core": {
        "K8": [
            "User on GSI1",
            "Follow on GSI1",
            "GroupMember on GSI1",
            "Goal on GSI1",
            "Task on GSI1",
            "Activity",
            "FeedItem",
            "Quest on GSI1",
            "Message",
        ],
        "K13": ["User on GSI2", "User on GSI3"],
        "K14": ["gg_core"],
        "Q2": ["Read history"],
        "Q3": ["Fan-in read", "Fan-out read"],
        "Q4": [
            "Who I follow",
            "Who follows me",
            "List members",
            "Groups I'm in",
            "List user quests",
            "Quests by linked goal",
        ],
        "Q8": ["Fan-in read"],
        "Q10": ["Quests by linked goal"],
        "Q11": [
            "Who I follow",
            "Who follows me",
            "Count of followers",
            "Count of followed",
            "Get group",
            "List members",
            "Groups I'm in",
            "Fan-in read",
            "Fan-out read",
            "List user quests",
            "Get specific quest",
            "createQuest",
        ],
        "X1": ["Follow.GSI1PK", "Follow.GSI1SK"],
        "X3": ["User on GSI1", "Follow on GSI1", "Goal on GSI1", "Task on GSI1", "GSI2", "GSI3"],
        "X5": ["User.nickname", "User.email"],
        "X9": ["User on GSI2", "User on GSI3", "Task on GSI1"],
        "X11": ["User on GSI1", "Follow on GSI1", "Goal on GSI1", "Quest on GSI1"],
        "W1": ["postActivity on Activity", "createQuest on Quest", "sendMessage on Message"],
        "W2": ["joinGroup on Room", "leaveGroup on Room", "cancelQuest on Quest"],
        "W3": ["followUser", "unfollowUser", "joinGroup", "leaveGroup"],
        "W6": ["Room.members"],
        "W7": ["Room.members"],
        "W8": ["Activity", "Message"],
        "W9": ["followUser", "unfollowUser", "postActivity", "sendMessage"],
        "W10": ["IdempotencyRecord", "TemporaryLock"],
        "S1": ["followers", "following"],
        "S6": ["Hybrid feed"],
        "S7": ["Hybrid feed"],
        "S8": ["FeedItem of Hybrid feed"],
        "S9": ["Activity.media"],
        "S10": ["Hybrid feed"],
        "S11": ["Follow on GSI1"],
        "D2": ["items of a follow", "media of an activity", "cancelQuest on Quest"],
        "D3": ["FeedItem"],
    },
    "sellers": {
        "K8": ["Order on profileId-index", "Catalog on isPublic-createdAt-index"],
        "K9": [
            "Profile.ownerAccountId",
            "Share.targetAccountId",
            "Season.profileId",
            "Order.seasonId",
        ],
        "K13": ["Account on email-index"],
        "Q4": [
            "listMyProfiles",
            "listSharesByProfile",
            "listSharedProfiles",
            "listInvitesByProfile",
            "listSeasonsByProfile",
            "listCatalogUsage",
            "listOrdersBySeason",
            "listOrdersByProfile",
            "listMyCatalogs",
            "listPublicCatalogs",
        ],
        "Q5": ["listSeasonsByProfile", "listOrdersBySeason"],
        "Q7": ["listSharedProfiles"],
        "Q12": ["getInvite", "listInvitesByProfile"],
        "X4": ["profileId-index", "seasonId-index", "orderId-index"],
        "X5": ["Account.email"],
        "X6": [
            "createSellerProfile",
            "shareProfileDirect",
            "createProfileInvite",
            "createSeason",
            "createOrder",
        ],
        "X7": ["getProfile", "getSeason", "getOrder"],
        "X8": ["Catalog on isPublic-createdAt-index"],
        "X9": ["Account on email-index", "Catalog on isPublic-createdAt-index"],
        "X14": ["deleteCatalog"],
        "W1": [
            "createSellerProfile on Profile",
            "createProfileInvite on Invite",
            "createSeason on Season",
            "createOrder on Order",
        ],
        "W2": ["updateSellerProfile on Profile", "updateSeason on Season", "updateOrder on Order"],
        "W3": ["deleteSellerProfile", "redeemProfileInvite", "deleteSeason"],
        "W5": ["deleteSellerProfile"],
        "W11": [
            "updateSellerProfile on Profile",
            "deleteSellerProfile on Profile",
            "updateSeason on Season",
            "deleteSeason on Season",
            "updateOrder on Order",
            "deleteOrder on Order",
        ],
        "M1": ["1.1 modify profiles", "2.1 modify seasons", "3.1 modify orders"],
        "M2": ["1.1 modify profiles", "2.1 modify seasons", "3.1 modify orders"],
        "M4": ["1.1 modify profiles", "2.1 modify seasons", "3.1 modify orders"],
        "M5": ["the steps"],
        "M6": [
            "1.6 import profiles",
            "1.6 import shares",
            "1.6 import invites",
            "2.4 import seasons",
            "3.4 import orders",
        ],
        "M7": [
            "1.6 import profiles",
            "1.6 import shares",
            "1.6 import invites",
            "2.4 import seasons",
            "3.4 import orders",
        ],
        "M8": [
            "Profile.ownerAccountId",
            "Share.targetAccountId",
            "Season.profileId",
            "Order.seasonId",
        ],
        "D1": ["indexes after", "indexes of Seasons after", "indexes of Orders after"],
        "D2": ["the indexes of Catalogs"],
        "D4": ["index reads", "query costs", "latency"],
    },
}


def document(name: str) -> Schema:
    return load(ROOT / "src" / "keyfold_systems" / name / "as_written.yaml")


def report(name: str) -> Review:
    return check(document(name))


def message(name: str, code: str, subject: str) -> str:
    return next(f.message for f in report(name).findings if (f.code, f.subject) == (code, subject))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_findings_are_these(name: str) -> None:
    found: dict[str, list[str]] = {}
    reviewed = report(name)
    for finding in reviewed.findings:
        found.setdefault(finding.code, []).append(finding.subject)
    assert reviewed.crashes == ()
    assert found == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_finding_has_its_line_and_a_remedy(name: str) -> None:
    for finding in report(name).findings:
        assert finding.place.line > 0, finding
        assert finding.suggestion.endswith("."), finding


@pytest.mark.parametrize("name", EXPECTED)
def test_the_design_file_is_what_it_says_when_written_again(name: str) -> None:
    assert loads(dumps(document(name))) == document(name)


def test_a_one_sided_range_names_everything_it_runs_into() -> None:
    told = message("search_room", "Q1", "Get activities after timestamp")
    assert told == (
        "`SK > ACTIVITY#<timestamp>` also returns Room (`ROOM`), Member (`MEMBER#…`), Listing "
        "(`LISTING#…`), UserCriteria (`CRITERIA#…#…`), CombinedCriteria (`CRITERIA_COMBINED#…`), "
        "Compatibility (`COMPATIBILITY#…`)"
    )


def test_ten_indexes_stay_ten() -> None:
    told = message("sellers", "D1", "indexes after")
    assert told.startswith("the document says 6, and its own tables have 10 (Accounts 1, Prof")


def test_chat_history_meets_the_room_itself() -> None:
    assert "Room (`ROOM#…`)" in message("gg_core", "Q2", "Read history")


LOOKALIKES = {
    "prefixes that share letters": ("search_room", "K5"),
    "a bare key beside its prefix": ("search_room", "K4"),
    "members under the room's own id": ("gg_core", "K4"),
    "an index sparse by an optional field": ("search_room", "X4"),
    "two indexes that share an attribute": ("inviter", "X1"),
    "an activity that lies in one partition only": ("gg_core", "Q9"),
    "times followed by an id": ("gg_core", "K7"),
}


@pytest.mark.parametrize(("name", "code"), LOOKALIKES.values(), ids=LOOKALIKES)
def test_lookalikes_stay_silent(name: str, code: str) -> None:
    assert not [f for f in report(name).findings if f.code == code]


def test_no_rule_knows_a_system() -> None:
    names = ("inviter", "hangout", "search room", "tama", "gg_core", "seller")
    for path in (ROOT / "src" / "keyfold" / "review" / "check").glob("*.py"):
        text = path.read_text(encoding="utf-8").casefold()
        assert not [name for name in names if name in text], path.name


def _generator() -> ModuleType:
    path = ROOT / "docs" / "_ext" / "findings.py"
    spec = importlib.util.spec_from_file_location("findings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documentation_lists_these_findings() -> None:
    """Write it again with: python docs/_ext/findings.py"""
    module = _generator()
    assert (ROOT / "docs" / "findings.md").read_text(encoding="utf-8") == module.findings()
