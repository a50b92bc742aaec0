"""Two designs that differ in one place: one is right, and its twin is found."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from keyfold.design.file import loads
from keyfold.review.check import Finding, check


@dataclass(frozen=True)
class Twins:
    """A right design, and the text whose replacement makes it wrong."""

    code: str
    right: str
    old: str
    new: str


TWINS = {
    "both bounds of a range begin with one value": Twins(
        "Q1",
        """
design: d
entities:
  Device: {key: {PK: "C#{c}", SK: "{number}"}, attributes: {c: id, number: id}}
  Payment:
    key: {PK: "C#{c}", SK: "{number}#{at:iso_ms}"}
    attributes: {c: id, number: id, at: fixed timestamp}
patterns:
  Payments: {query: Payment, where: "PK = C#{c}, SK between {number}#{from} and {number}#{to}"}
""",
        "between {number}#{from} and {number}#{to}",
        "between {number}#{from} and {other}#{to}",
    ),
    "a range of times behind a value does not reach a letter": Twins(
        "Q1",
        """
design: d
entities:
  Account: {key: {PK: "C#{c}", SK: "{n}#A{a}"}, attributes: {c: id, n: id, a: id}}
  Payment:
    key: {PK: "C#{c}", SK: "{n}#{at:iso_ms}#{p}"}
    attributes: {c: id, n: id, at: fixed timestamp, p: id}
patterns:
  Payments: {query: Payment, where: "PK = C#{c}, SK between {n}#{from} and {n}#{to}"}
""",
        'SK: "{n}#A{a}"',
        'SK: "{n}#{a}"',
    ),
    "a state is no date, and another text may be a state": Twins(
        "Q2",
        """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  House:
    key: {PK: "H#{h}", SK: H}
    indexes: {By: {BPK: "{state}", BSK: "H#{h}"}}
    attributes: {h: id, state: fixed string}
  Sale:
    key: {PK: "S#{s}", SK: S}
    indexes: {By: {BPK: "{day}", BSK: "S#{s}"}}
    attributes: {s: id, day: fixed date}
patterns:
  Sales: {query: Sale, index: By, where: "BPK = {day}", limit: 9}
""",
        "day: fixed date",
        "day: fixed string",
    ),
    "an item cannot stay out of an index over its own key": Twins(
        "X3",
        """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [SK, PK]}, Also: {key: [APK]}}}}
entities:
  Group:
    key: {PK: "G#{g}", SK: "G#{g}"}
    indexes: {By: {SK: "G#{g}", PK: "G#{g}"}}
  Member:
    key: {PK: "G#{g}", SK: "M#{m}"}
    indexes: {By: {SK: "M#{m}", PK: "G#{g}"}, Also: {APK: "M#{m}"}}
patterns:
  Groups: {query: Member, index: By, where: "SK = M#{m}", limit: 9}
  Members: {query: Member, index: Also, where: "APK = M#{m}", limit: 9}
""",
        'indexes: {By: {SK: "G#{g}", PK: "G#{g}"}}',
        'indexes: {Also: {APK: "G#{g}"}}',
    ),
    "one item in each partition has no order": Twins(
        "K8",
        """
design: d
entities:
  Offer: {key: {PK: "O#{n}", SK: "O#{n}"}, attributes: {n: fixed number}}
""",
        'PK: "O#{n}"',
        "PK: OFFERS",
    ),
    "shards are few on purpose": Twins(
        "X8",
        """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  Event:
    key: {PK: "E#{e}", SK: E}
    indexes: {By: {BPK: "{shard}", BSK: "{at:iso_ms}#{e}"}}
    attributes: {e: id, at: fixed timestamp, shard: {type: string, shards: 5, mutable: false}}
""",
        "{type: string, shards: 5, mutable: false}",
        '"fixed string one of 0, 1, 2, 3, 4"',
    ),
    "an update may name an attribute of an index key": Twins(
        "Q11",
        """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, statusTime]}}}}
entities:
  Event:
    key: {PK: "E#{e}", SK: E}
    indexes: {By: {BPK: ALL, statusTime: "{status}#{at:iso_ms}"}}
    attributes: {e: id, at: fixed timestamp, status: string}
operations:
  close: {does: ["update Event (status, statusTime) guarded"]}
""",
        "(status, statusTime)",
        "(status, statusTimes)",
    ),
    "a field of the primary key is not an index key that was forgotten": Twins(
        "X19",
        """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, SK]}}}}
entities:
  Item:
    key: {PK: "C#{c}", SK: "{status}#{n}"}
    indexes: {By: {BPK: "P#{p}", SK: "{status}#{n}"}}
    attributes: {c: id, p: id, n: id, status: string}
operations:
  buy: {does: ["update Item (status) guarded"]}
""",
        'BPK: "P#{p}"',
        'BPK: "P#{status}"',
    ),
    "a scan of the few items of a sparse index": Twins(
        "Q13",
        """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [mark]}}}}
entities:
  User:
    key: {PK: "U#{u}", SK: U}
    indexes: {By: {mark: "{mark}", when: mark}}
    attributes: {u: id, mark: optional string}
patterns:
  Marked: {scan: User, index: By}
""",
        ", when: mark",
        "",
    ),
    "a condition keeps an item from replacing one of the same second": Twins(
        "K7",
        """
design: d
entities:
  Payment: {key: {PK: "A#{a}", SK: "{at:iso_s}"}, attributes: {a: id, at: fixed timestamp}}
operations:
  pay: {does: [create Payment guarded]}
""",
        "create Payment guarded",
        "put Payment",
    ),
    "an id of one length cannot begin another one, and a number can": Twins(
        "Q15",
        """
design: d
entities:
  Product:
    key: {PK: "B#{b}", SK: "C#{c}P#{p}"}
    attributes: {b: id, c: id like <uuid>, p: id}
patterns:
  Products: {query: Product, where: "PK = B#{b}, SK begins_with C#{c}", limit: 9}
""",
        "like <uuid>",
        "like <number>",
    ),
    "a bare prefix is no cursor": Twins(
        "Q6",
        """
design: d
entities:
  Score:
    key: {PK: "U#{u}", SK: "S#{at:iso_ms}#{s}"}
    attributes: {u: id, at: fixed timestamp, s: id}
patterns:
  Scores: {query: Score, where: "PK = U#{u}, SK > S#", limit: 9, paged: true}
""",
        "SK > S#",
        "SK > S#{at}",
    ),
    "the last ones by a number": Twins(
        "Q3",
        """
design: d
entities:
  Entry: {key: {PK: "A#{a}", SK: "E#{n:09d}"}, attributes: {a: id, n: fixed number}}
patterns:
  Last entries: {query: Entry, where: "PK = A#{a}", descending: true, limit: 9}
""",
        "descending: true, ",
        "",
    ),
    "a put of an item that others add to": Twins(
        "W1",
        """
design: d
tables: {t: {key: [PK, SK], stream: NEW_IMAGE}}
entities:
  Sale: {key: {PK: "S#{s}", SK: S}}
  Total: {key: {PK: "T#{day}", SK: T}, attributes: {day: fixed date, sum: number}}
consumers:
  totals:
    entities: [Sale]
    does: [put Total guarded, "increment Total (sum)"]
    dead_letter: a queue
""",
        "put Total guarded",
        "put Total unguarded",
    ),
    "an edge that is there already is not counted again": Twins(
        "W1",
        """
design: d
entities:
  User: {key: {PK: "U#{u}", SK: U}, attributes: {u: id, followers: number}}
  Follow: {key: {PK: "F#{u}", SK: "U#{v}"}, role: edge}
operations:
  follow: {does: [put Follow guarded, "increment User (followers)"], atomic: true}
""",
        "put Follow guarded",
        "put Follow unguarded",
    ),
    "what is deleted is counted no more": Twins(
        "S3",
        """
design: d
entities:
  Repo: {key: {PK: "R#{r}", SK: R}, attributes: {r: id, stars: number}}
  Star: {key: {PK: "S#{r}", SK: "U#{u}"}, role: edge}
operations:
  star: {does: [create Star guarded, "increment Repo (stars)"], atomic: true}
  unstar: {does: [delete Star guarded, "decrement Repo (stars)"], atomic: true}
""",
        ', "decrement Repo (stars)"]',
        "]",
    ),
    "all shards are read": Twins(
        "S11",
        """
design: d
entities:
  Event:
    key: {PK: "E#{shard}", SK: "{at:iso_ms}#{e}"}
    attributes: {e: id, at: fixed timestamp, shard: {type: number, shards: 5, mutable: false}}
patterns:
  Events: {merge: Event, partition: "E#{shard}", max_partitions: 5, descending: true, limit: 9}
""",
        'merge: Event, partition: "E#{shard}", max_partitions: 5',
        'query: Event, partition: "E#{shard}"',
    ),
    "a delete of a partition's head takes the rest along": Twins(
        "W5",
        """
design: d
entities:
  Repo: {key: {PK: "R#{owner}#{name}", SK: R}}
  Issue: {key: {PK: "R#{owner}#{name}", SK: "I#{n}"}}
operations:
  drop: {does: [delete Repo, delete each Issue]}
""",
        ", delete each Issue",
        "",
    ),
    "expired sessions are left out": Twins(
        "Q12",
        """
design: d
tables: {t: {key: [PK], ttl: ttl}}
entities:
  Session:
    key: {PK: "S#{s}"}
    ttl: {attribute: ttl}
    attributes: {s: id, expiresAt: fixed timestamp iso_ms, ttl: number}
patterns:
  Session: {query: Session, where: "PK = S#{s}", filter: 'expiresAt > :now'}
""",
        ", filter: 'expiresAt > :now'",
        "",
    ),
    "the price in an order is that of its day": Twins(
        "W4",
        """
design: d
entities:
  Product: {key: {PK: "P#{p}", SK: P}, attributes: {p: id, price: number}}
  Line:
    key: {PK: "O#{o}", SK: "P#{p}"}
    attributes: {o: id, p: id -> Product, price: fixed number}
operations:
  change: {does: ["update Product (price) guarded"]}
""",
        "price: fixed number",
        "price: number",
    ),
    "a filter looks at what the index holds": Twins(
        "X10",
        """
design: d
tables: {t: {key: [PK], indexes: {By: {key: [who], projection: INCLUDE, included: [age]}}}}
entities:
  Pet:
    key: {PK: "P#{p}"}
    indexes: {By: {who: "U#{u}"}}
    attributes: {p: id, u: id, age: number}
patterns:
  Pets: {query: Pet, index: By, where: "who = U#{u}", filter: 'age > :age', shows: [p], limit: 9}
""",
        "projection: INCLUDE, included: [age]",
        "projection: KEYS_ONLY",
    ),
}


def told(text: str, code: str) -> list[Finding]:
    found = check(loads(text))
    assert found.crashes == ()
    alarming = ("error", "warning")
    return [one for one in found.findings if one.code == code and one.severity in alarming]


@pytest.mark.parametrize("twins", TWINS.values(), ids=TWINS)
def test_only_the_wrong_one_of_two_twins_is_found(twins: Twins) -> None:
    assert twins.old in twins.right
    assert told(twins.right, twins.code) == []
    assert told(twins.right.replace(twins.old, twins.new), twins.code)


def questions(text: str) -> list[str]:
    return [one.message for one in check(loads(text)).findings if one.severity == "question"]


def test_a_key_held_as_a_whole_makes_shared_fields_a_copy() -> None:
    text = """
design: d
entities:
  Offer:
    key: {PK: "O#{day}#{n}", SK: O}
    attributes: {day: fixed date, n: fixed number, summary: string}
  Sent:
    key: {PK: "C#{c}", SK: "O#{day}#{n}"}
    attributes: {c: id, day: fixed date, n: fixed number, summary: string}
"""
    asked = "holds summary of Offer: what updates it when Offer changes?"
    assert asked in questions(text)
    assert asked not in questions(
        text.replace("n: fixed number, summary: string}\n  Sent", "n: fixed number}\n  Sent")
    )


def test_an_index_that_gets_one_item_by_what_is_not_unique_is_asked_about() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  Account:
    key: {PK: "U#{u}", SK: "{provider}#{name}"}
    indexes: {By: {BPK: "{provider}", BSK: "{name}"}}
    attributes: {u: id, provider: fixed string, name: fixed string}
patterns:
  Account: {get: Account, index: By, where: "BPK = {provider}, BSK = {name}"}
"""
    asked = "must provider, name be unique? By finds items by it but does not prevent duplicates"
    assert asked in questions(text)
    assert asked not in questions(text.replace("name: fixed string}", "name: id}"))


def test_advice_for_several_types_leaves_none_of_them_out() -> None:
    text = """
design: d
entities:
  User: {key: {PK: "U#{u}", SK: A}}
  Project: {key: {PK: "U#{u}", SK: "B#{b}"}}
  Skill: {key: {PK: "U#{u}", SK: "C#{c}"}}
patterns:
  User with skills: {collection: [User, Skill], where: "PK = U#{u}", limit: 9}
"""
    (finding,) = check(loads(text), select=["Q2"]).findings
    assert finding.suggestion.startswith(
        "Give Project a prefix that sorts before or after User and Skill"
    )


def test_a_question_about_the_delimiter_names_the_sign_in_the_key() -> None:
    text = """
design: d
entities:
  City: {key: {PK: "{state}_{n}", SK: CITY}, attributes: {state: fixed string, n: fixed number}}
"""
    assert "can state hold '_'? It is inside `{state}_{n}`" in questions(text)


def test_an_update_that_leaves_two_index_attributes_behind_is_one_finding() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  User:
    key: {PK: "U#{u}", SK: U}
    indexes: {By: {BPK: "E#{email}", BSK: "E#{email}"}}
    attributes: {u: id, email: string}
operations:
  rename: {does: ["update User (email) guarded"]}
"""
    (finding,) = check(loads(text), select=["X19"]).findings
    assert finding.suggestion == "Write BPK and BSK in the same update."


FEED = """
design: d
tables: {t: {key: [PK, SK], ttl: ttl}}
entities:
  Follow: {key: {PK: "F#{u}", SK: "U#{v}"}, role: edge}
  Post: {key: {PK: "P#{u}", SK: "{at:iso_ms}#{p}"}, attributes: {u: id, at: fixed timestamp, p: id}}
  Item:
    key: {PK: "I#{v}", SK: "{at:iso_ms}#{p}"}
    role: feed_item
    attributes: {v: id, u: id, at: fixed timestamp, p: id, ttl: number}
    ttl: {attribute: ttl}
operations:
  unfollow: {does: [delete Follow]}
feeds:
  home: {post: Post, item: Item, edge: Follow, mode: hybrid}
"""


def test_a_feed_is_asked_for_what_an_unfollow_leaves_in_it() -> None:
    asked = "what removes the Item of a Post when unfollow deletes the Follow it came by?"
    assert asked in questions(FEED)
    assert asked not in questions(
        FEED.replace("[delete Follow]", "[delete Follow, delete each Item]")
    )


def test_a_feed_is_asked_for_the_readers_of_its_largest_author() -> None:
    asked = [one for one in questions(FEED) if one.startswith("how many readers ask for the Post")]
    assert len(asked) == 1
    bounded = questions(FEED.replace("mode: hybrid", "mode: hybrid, max_followers: 1000"))
    assert not [one for one in bounded if one.startswith("how many readers ask")]
