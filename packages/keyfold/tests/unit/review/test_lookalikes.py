"""Designs that look wrong and are right: the reviewer says nothing about them."""

from __future__ import annotations

import pytest

from keyfold.design.file import loads
from keyfold.review.check import check

RIGHT = {
    "an amount that is text outside of keys, and a fixed form of one inside": """
design: d
entities:
  Line:
    key: {PK: ORDER#<orderId>, SK: PRICE#<price>#<lineId>}
    attributes: {orderId: id, lineId: id, price: string like P<digits>, total: string}
patterns:
  Lines: {query: Line, where: "PK = ORDER#<orderId>, SK begins_with PRICE#", limit: 20}
""",
    "a status in an index key that is fixed, and the state of an address": """
design: d
tables: {main: {key: [PK, SK], indexes: {ByStatus: {key: [GSI1PK, GSI1SK]}}}}
entities:
  Office:
    key: {PK: OFFICE#<officeId>, SK: OFFICE}
    indexes: {ByStatus: {GSI1PK: "STATE#<state>", GSI1SK: "<status>#<officeId>"}}
    attributes:
      officeId: id
      state: string like <state>
      status: fixed string one of own, rented
patterns:
  Offices: {query: Office, index: ByStatus, where: "GSI1PK = STATE#<state>", limit: 20}
""",
    "a map by days with a bound, and one of settings": """
design: d
entities:
  Account:
    key: {PK: ACCOUNT#<accountId>, SK: ACCOUNT}
    attributes:
      accountId: id
      settings: {type: map, description: one entry for each switch}
      dailyTotals: {type: map, max_items: 31, description: an entry for each day of the month}
patterns:
  Account: {get: Account, where: "PK = ACCOUNT#<accountId>, SK = ACCOUNT"}
""",
    "an inverted index over the table's own keys": """
design: d
tables: {main: {key: [PK, SK], indexes: {Inverted: {key: [SK, PK]}}}}
entities:
  Group: {key: {PK: GROUP#<groupId>, SK: GROUP#<groupId>}}
  Member: {key: {PK: GROUP#<groupId>, SK: MEMBER#<userId>}}
patterns:
  Groups of a user: {query: Member, index: Inverted, where: SK = MEMBER#<userId>, limit: 20}
""",
    "two entities in two indexes that share an attribute": """
design: d
tables:
  main:
    key: [PK, SK]
    indexes:
      ByUser: {key: [gsi1pk, gsi1sk]}
      ByTime:
        key: {gsi1pk: S, startsAt: N}
        silence: [{code: X15, reason: no entity sets both sort keys}]
entities:
  Member:
    key: {PK: GROUP#<groupId>, SK: MEMBER#<userId>}
    indexes: {ByUser: {gsi1pk: USER#<userId>, gsi1sk: GROUP#<groupId>}}
  Event:
    key: {PK: EVENT#<eventId>, SK: EVENT}
    indexes: {ByTime: {gsi1pk: GROUP#<groupId>, startsAt: <startsAt>}}
    attributes: {eventId: id, groupId: id, startsAt: fixed timestamp epoch_ms}
patterns:
  Groups: {query: Member, index: ByUser, where: gsi1pk = USER#<userId>, limit: 20}
  Events: {query: Event, index: ByTime, where: gsi1pk = GROUP#<groupId>, limit: 20, order: startsAt}
""",
    "prefixes that share letters, and a bare key beside its prefix": """
design: d
entities:
  Room: {key: {PK: ROOM#<roomId>, SK: ROOM}}
  RoomNote: {key: {PK: ROOM#<roomId>, SK: ROOM#<noteId>}}
  Criteria: {key: {PK: ROOM#<roomId>, SK: CRITERIA#<userId>}}
  Combined: {key: {PK: ROOM#<roomId>, SK: CRITERIA_COMBINED#<number>}}
patterns:
  Room: {get: Room, where: "PK = ROOM#<roomId>, SK = ROOM"}
  Notes: {query: RoomNote, where: "PK = ROOM#<roomId>, SK begins_with ROOM#", limit: 5}
  Criteria: {query: Criteria, where: "PK = ROOM#<roomId>, SK begins_with CRITERIA#", limit: 5}
""",
    "many items with equal index keys": """
design: d
tables: {main: {key: [PK, SK], indexes: {ByDay: {key: [GSI1PK, GSI1SK]}}}}
entities:
  Visit:
    key: {PK: VISIT#<visitId>, SK: VISIT}
    indexes: {ByDay: {GSI1PK: SHOP#<shopId>, GSI1SK: <day>}}
    attributes: {visitId: id, shopId: id, day: fixed date}
patterns:
  Visits of a shop: {query: Visit, index: ByDay, where: GSI1PK = SHOP#<shopId>, paged: true}
""",
    "a retry that writes the same item": """
design: d
entities:
  Follow: {key: {PK: USER#<followerId>, SK: FOLLOWING#<followeeId>}}
operations:
  follow: {does: [put Follow], retried: true}
""",
    "a range that ends where the type ends": """
design: d
entities:
  Activity: {key: {PK: ROOM#<roomId>, SK: ACTIVITY#<number>}}
  Zone: {key: {PK: ROOM#<roomId>, SK: ZONE#<zoneId>}}
patterns:
  Between:
    query: Activity
    partition: ROOM#<roomId>
    condition: SK between ACTIVITY#<first> and ACTIVITY#<last>
    limit: 20
""",
    "a one-sided range over the last type of its partition": """
design: d
entities:
  Member: {key: {PK: ROOM#<roomId>, SK: MEMBER#<userId>}}
  Note: {key: {PK: ROOM#<roomId>, SK: NOTE#<noteId>}}
patterns:
  Notes after: {query: Note, where: "PK = ROOM#<roomId>, SK > NOTE#<noteId>", limit: 20}
""",
    "a whole partition that is asked for as a whole": """
design: d
entities:
  Room: {key: {PK: ROOM#<roomId>, SK: ROOM}}
  Note: {key: {PK: ROOM#<roomId>, SK: NOTE#<noteId>}, per_partition: 99}
patterns:
  Everything: {query: everything, partition: ROOM#<roomId>, limit: 100}
  Room and notes: {collection: [Room, Note], partition: ROOM#<roomId>, limit: 100}
""",
    "a collection whose neighbours lie outside of it": """
design: d
entities:
  Attachment: {key: {PK: ROOM#<roomId>, SK: ATTACHMENT#<id>}}
  Member: {key: {PK: ROOM#<roomId>, SK: MEMBER#<userId>}}
  Note: {key: {PK: ROOM#<roomId>, SK: NOTE#<noteId>}}
patterns:
  Members and notes: {collection: [Member, Note], partition: ROOM#<roomId>, limit: 100}
""",
    "tags, which are a list that grows with nothing": """
design: d
entities:
  Post:
    key: {PK: POST#<postId>, SK: POST}
    attributes: {postId: id, tags: list}
""",
    "a read of one index entry by a unique value": """
design: d
tables: {main: {key: [PK, SK], indexes: {ByHandle: {key: [GSI1PK]}}}}
entities:
  User:
    key: {PK: USER#<userId>, SK: USER}
    uniques: [{fields: [handle]}]
    attributes: {userId: id, handle: fixed string}
    indexes: {ByHandle: {GSI1PK: "HANDLE#{handle:lower}"}}
patterns:
  By handle: {query: User, index: ByHandle, where: GSI1PK = HANDLE#<handle>}
""",
    "deletes that a consumer follows": """
design: d
entities:
  Room: {key: {PK: ROOM#<roomId>, SK: ROOM}, attributes: {roomId: id}}
  Note:
    key: {PK: ROOM#<roomId>, SK: NOTE#<noteId>}
    attributes: {roomId: id -> Room, noteId: id}
operations:
  deleteRoom: {does: [delete Room]}
consumers:
  Clean: {entities: [Room], events: [REMOVE], does: [delete each Note], dead_letter: failures}
""",
    "a bare time, which cannot be a prefix with text": """
design: d
entities:
  Comment: {key: {PK: USER#<userId>, SK: "{at:iso_ms}#<id>"}, per_partition: 500}
  Bookmark: {key: {PK: USER#<userId>, SK: BOOKMARK#<id>}}
  Visit: {key: {PK: USER#<userId>, SK: "{at:epoch_ms}"}, per_partition: 9}
patterns:
  Bookmarks: {query: Bookmark, where: "PK = USER#<userId>, SK begins_with BOOKMARK#", limit: 9}
  Recent: {query: Bookmark, where: "PK = USER#<userId>, SK >= BOOKMARK#", limit: 9}
silence: [{code: K7, reason: this is about other things}]
""",
    "two entities that share a key on purpose": """
design: d
entities:
  User: {key: {PK: ACCOUNT#<n>, SK: ACCOUNT#<n>}, on_purpose: {shared key: one namespace}}
  Club: {key: {PK: ACCOUNT#<n>, SK: ACCOUNT#<n>}, on_purpose: {shared key: one namespace}}
  Gist: {key: {PK: ACCOUNT#<n>, SK: "#GIST#<id>"}}
patterns:
  User: {get: User, where: "PK = ACCOUNT#<n>, SK = ACCOUNT#<n>"}
  User and gists:
    collection: [User, Gist]
    where: PK = ACCOUNT#<n>, SK <= ACCOUNT#<n>
    descending: true
    limit: 9
""",
    "placements of one index that exclude each other": """
design: d
tables: {main: {key: [PK, SK], indexes: {State: {key: [GSI1PK, GSI1SK]}}}}
entities:
  Issue:
    key: {PK: REPO#<repoId>, SK: ISSUE#<issueId>}
    attributes: {repoId: id, issueId: id, state: "string one of open, done"}
    indexes:
      State:
        - {GSI1PK: REPO#<repoId>, GSI1SK: OPEN#<issueId>, when: 'state = "open"'}
        - {GSI1PK: REPO#<repoId>, GSI1SK: DONE#<issueId>, when: 'state = "done"'}
patterns:
  Open: {query: Issue, index: State, where: "GSI1PK = REPO#<r>, GSI1SK begins_with OPEN#", limit: 9}
  Done: {query: Issue, index: State, where: "GSI1PK = REPO#<r>, GSI1SK begins_with DONE#", limit: 9}
silence: [{code: X11, reason: this is about X1}, {code: Q11, reason: this is about X1}]
""",
    "the placement that a feed reads its followers by": """
design: d
tables: {main: {key: [PK, SK], indexes: {Followers: {key: [GSI1PK, GSI1SK]}}}}
entities:
  Follow:
    key: {PK: USER#<readerId>, SK: FOLLOWS#<authorId>}
    role: edge
    indexes: {Followers: {GSI1PK: AUTHOR#<authorId>, GSI1SK: READER#<readerId>}}
  Post: {key: {PK: AUTHOR#<authorId>, SK: POST#<postId>}}
  FeedItem: {key: {PK: FEED#<readerId>, SK: POST#<postId>}, role: feed_item}
feeds:
  Home: {post: Post, item: FeedItem, edge: Follow, mode: fan_out, max_followers: 500}
""",
    "a boolean inside a composed key": """
design: d
tables: {main: {key: [PK, SK], indexes: {Own: {key: [GSI1PK, GSI1SK]}}}}
entities:
  Repo:
    key: {PK: REPO#<repoId>, SK: REPO}
    attributes: {repoId: id, ownerId: id, hidden: boolean}
    indexes: {Own: {GSI1PK: OWNER#<ownerId>, GSI1SK: "<hidden>#<repoId>"}}
patterns:
  Repos: {query: Repo, index: Own, where: GSI1PK = OWNER#<ownerId>, limit: 9}
""",
    "deletes that can be repeated": """
design: d
entities:
  Room: {key: {PK: ROOM#<roomId>, SK: ROOM}, attributes: {roomId: id}}
  Note: {key: {PK: ROOM#<roomId>, SK: NOTE#<n>}, attributes: {roomId: id -> Room, n: id}}
operations:
  deleteRoom: {does: [delete each Note, delete Room], atomic: false}
""",
    "an ordered list with a bound": """
design: d
entities:
  FrontPage: {key: {PK: FRONT, SK: FRONT}, attributes: {deals: list -> Deal max 20}}
""",
    "due dates and sparse indexes, which change": """
design: d
tables: {main: {key: [PK, SK], indexes: {Due: {key: [dueOn, GSI1SK]}, Open: {key: [openIn]}}}}
entities:
  Bill:
    key: {PK: BILL#<billId>, SK: BILL}
    attributes: {billId: id, dueOn: date, openIn: optional string like <month>}
    indexes:
      Due: {dueOn: "{dueOn}", GSI1SK: BILL#<billId>}
      Open: {openIn: <openIn>, when: openIn}
patterns:
  Due: {query: Bill, index: Due, where: dueOn = <dueOn>, paged: true}
  Open: {query: Bill, index: Open, where: openIn = <openIn>, paged: true}
operations:
  pay: {does: ["update Bill (dueOn, openIn) guarded"]}
""",
    "a parent that leads its children in two indexes": """
design: d
tables: {main: {key: [PK, SK], indexes: {A: {key: [APK, ASK]}, B: {key: [BPK, BSK]}}}}
entities:
  Repo:
    key: {PK: REPO#<repoId>, SK: REPO}
    indexes: {A: {APK: REPO#<repoId>, ASK: A}, B: {BPK: REPO#<repoId>, BSK: A}}
  Issue: {key: {PK: ISSUE#<i>, SK: ISSUE}, indexes: {A: {APK: REPO#<repoId>, ASK: ISSUE#<i>}}}
  Fork: {key: {PK: FORK#<f>, SK: FORK}, indexes: {B: {BPK: REPO#<repoId>, BSK: FORK#<f>}}}
patterns:
  Issues: {collection: [Repo, Issue], index: A, partition: REPO#<repoId>, limit: 9}
  Forks: {collection: [Repo, Fork], index: B, partition: REPO#<repoId>, limit: 9}
silence: [{code: X11, reason: this is about X2}]
""",
    "a shard number in a sort key": """
design: d
entities:
  Part:
    key: {PK: FILE#<fileId>, SK: "PART#<shard>#<partId>"}
    attributes: {fileId: id, shard: number, partId: id}
patterns:
  Parts: {query: Part, where: "PK = FILE#<fileId>, SK begins_with PART#<shard>#", limit: 9}
""",
    "a literal sort key, under which there is one": """
design: d
entities:
  Room: {key: {PK: ROOM#<roomId>, SK: ROOM}}
patterns:
  Room: {query: Room, where: "PK = ROOM#<roomId>, SK = ROOM"}
""",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_nothing_is_said_about(text: str) -> None:
    report = check(loads(text))
    assert report.crashes == ()
    assert [(f.code, f.subject, f.message) for f in report.findings] == []


def test_one_cause_is_one_finding() -> None:
    keys = "\n".join(f"      {name}: {{{name}PK: T#<title>}}" for name in "ABCDEFGH")
    indexes = ", ".join(f"{name}: {{key: [{name}PK]}}" for name in "ABCDEFGH")
    text = f"""
design: d
tables: {{main: {{key: [PK, SK], indexes: {{{indexes}}}}}}}
entities:
  Book:
    key: {{PK: BOOK#<bookId>, SK: BOOK}}
    attributes: {{bookId: id, title: string}}
    indexes:
{keys}
"""
    (finding,) = check(loads(text), select=["K13"]).findings
    assert finding.severity == "question"
    assert finding.subjects == "Book on A and 7 more"


def test_advice_for_a_collection_names_the_types_and_closes_no_range() -> None:
    text = """
design: d
entities:
  A: {key: {PK: P#<p>, SK: A#<a>}}
  B: {key: {PK: P#<p>, SK: B#<b>}}
  C: {key: {PK: P#<p>, SK: C#<c>}}
patterns:
  A and B: {collection: [A, B], where: "PK = P#<p>, SK >= A#", limit: 9}
"""
    (finding,) = check(loads(text), select=["Q1"]).findings
    assert finding.suggestion.startswith("Name every type that the range holds")


NAMED_ALONE = """
design: d
tables: {t: {key: [PK, SK], indexes: {Back: {key: [SK, PK]}}}}
entities:
  Order: {key: {PK: "{orderId}", SK: ORDER}, attributes: {orderId: id}}
  Shipper:
    key: {PK: "shippers#{shipperId}", SK: "{company}"}
    attributes: {shipperId: id, company: fixed string}
patterns:
  Shippers by name: {query: Shipper, index: Back, where: "SK = {company}", limit: 10}
"""


def test_a_text_that_could_only_by_chance_be_another_key_is_asked_about() -> None:
    found = check(loads(NAMED_ALONE)).findings
    assert [f for f in found if f.code == "K4"] == []
    assert [f.severity for f in found if f.code == "Q2"] == ["question"]


def test_ids_without_a_prefix_still_collide_with_each_other() -> None:
    text = NAMED_ALONE.replace("shippers#{shipperId}", "{shipperId}").replace(
        '"{company}"', "ORDER"
    )
    assert "K4" in {f.code for f in check(loads(text)).findings if f.severity == "error"}


def test_a_range_of_times_does_not_reach_a_word_behind_them() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK]}}
entities:
  Latest: {key: {PK: "D#{id}", SK: V#LATEST}, attributes: {id: id}}
  Version:
    key: {PK: "D#{id}", SK: "V#{day}"}
    attributes: {id: id, day: fixed date}
    per_partition: 9
patterns:
  Versions: {query: Version, where: "PK = D#{id}, SK between V#{day} and V#{until}"}
"""
    assert "Q1" not in {f.code for f in check(loads(text)).findings}
    assert "Q1" in {
        f.code
        for f in check(loads(text.replace(" and V#{until}", "").replace("between", ">="))).findings
    }


def test_a_time_that_is_part_of_what_is_referred_to_needs_no_tiebreak() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK]}}
entities:
  Photo:
    key: {PK: "U#{user}", SK: "P#{user}#{at:iso_ms}#{photo}"}
    attributes: {user: id, at: fixed timestamp, photo: id}
  Like:
    key: {PK: "L#{fan}", SK: "P#{user}#{at:iso_ms}#{photo}"}
    attributes: {fan: id, user: id, at: fixed timestamp, photo: id}
"""
    bare = text.replace("#{photo}", "")
    assert [f.subject for f in check(loads(text)).findings if f.code == "K7"] == []
    assert [f.subject for f in check(loads(bare)).findings if f.code == "K7"] == ["Photo"]


def test_a_year_has_four_digits() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK]}}
entities: {Rank: {key: {PK: "A#{id}", SK: "R#{year}"}, attributes: {id: id, year: fixed number}}}
"""
    assert "K8" not in {f.code for f in check(loads(text)).findings}
    assert "K8" in {f.code for f in check(loads(text.replace("year", "rank"))).findings}
