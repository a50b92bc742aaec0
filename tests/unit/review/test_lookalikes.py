"""Designs that look wrong and are right: the reviewer says nothing about them."""

from __future__ import annotations

import pytest

from keyfold.design.file import loads
from keyfold.review.check import check

RIGHT = {
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
  Note: {key: {PK: ROOM#<roomId>, SK: NOTE#<noteId>}}
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
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_nothing_is_said_about(text: str) -> None:
    report = check(loads(text))
    assert report.crashes == ()
    assert [(f.code, f.subject, f.message) for f in report.findings] == []
