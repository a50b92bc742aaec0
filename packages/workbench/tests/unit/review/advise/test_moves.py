"""Every kind of recommendation: a design where it is right, and one where it is not.

Whatever is recommended serves the same patterns, and migrations can plan it.
"""

from __future__ import annotations

from keyfold.design.file import loads
from keyfold.design.schema import Schema
from keyfold.design.yaml_writer import dumps
from keyfold.migrations.plan import draft
from keyfold.runtime.tables import create_request
from keyfold_engine.engine import Engine
from keyfold_workbench.advise import Advice, advise, report
from keyfold_workbench.advise.advice import Alternative
from keyfold_workbench.advise.proof import Proof
from keyfold_workbench.advise.recommendation import for_table
from keyfold_workbench.cost import Workload, bill
from keyfold_workbench.cost import loads as workload


def advised(design: str, load: str = "") -> Advice:
    """Advice whose every alternative was proved and planned, and whose tables were made."""
    schema = loads(design)
    found = advise(schema, workload(load, schema) if load else Workload())
    for made in found.alternatives:
        assert Proof(schema).against(made.schema) == [], made.name
        again = loads(dumps(made.schema))
        assert again.tables == made.schema.tables
        assert again.patterns == made.schema.patterns
        draft("change", schema, again)
        with Engine.open(":memory:") as engine:
            for table in again.tables:
                engine.call("CreateTable", create_request(table, table.name))
    return found


def alternative(advice: Advice, name: str) -> Alternative:
    return next(each for each in advice.alternatives if each.name == name)


def words(advice: Advice, after: Alternative | None = None) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in advice.before.schema.tables:
        for each in for_table(advice.before, after or advice.best, table):
            found.setdefault(each.verb, each.words)
    return found


TICKETS = """
design: tickets
tables:
  Tickets:
    key: [ticketId]
    indexes:
      status-index: {key: [status, createdAt]}
      owner-index: {key: [ownerId]}
      idle-index: {key: [createdAt]}
entities:
  Ticket:
    key: {ticketId: <ticketId>}
    attributes:
      ticketId: id
      ownerId: id
      status: string one of open, done
      createdAt: fixed timestamp
      body: string
patterns:
  ticket: {get: Ticket, where: ticketId = <ticketId>, consistent: true, parameters: [ticketId]}
  open tickets:
    query: Ticket
    index: status-index
    where: status = <status>
    limit: 20
    parameters: [limit]
  tickets of an owner:
    query: Ticket
    index: owner-index
    where: ownerId = <ownerId>
    parameters: [ownerId]
"""
LOAD = """
entities:
  Ticket: {items: 100000, bytes: 3000, distinct: {ownerId: 5000, status: 2}}
patterns:
  ticket: {rate: 100}
  open tickets: {rate: 5, page: 20}
  tickets of an owner: {rate: 10, page: 10, needs: [ticketId]}
writes:
  create Ticket: {rate: 5}
  update Ticket (body): {rate: 20}
"""


def tickets(load: str = LOAD, design: str = TICKETS) -> Advice:
    return advised(design, load)


# Drop and add an index


def test_an_index_that_nothing_reads_is_dropped() -> None:
    advice = tickets()
    assert "idle-index" not in str(advice.best.schema.tables)
    assert words(advice)["drop index"] == "idle-index: no pattern reads it."


def test_an_index_that_only_a_consumer_looks_through_stays() -> None:
    followed = TICKETS + (
        "consumers:\n  cleaner: {table: Tickets, entities: [Ticket], events: [REMOVE],\n"
        "    does: [update each Ticket (body) via idle-index]}\n"
    )
    advice = tickets(design=followed)
    assert advice.best.schema.tables[0].index("idle-index") is not None


def test_a_pattern_that_only_a_scan_serves_gets_an_index() -> None:
    scanned = "  tickets with a body: {scan: Ticket, parameters: [body], filter: body = x}\n"
    advice = tickets(design=TICKETS + scanned)
    served = advice.best.schema.by_pattern["tickets with a body"]
    assert served.kind == "query"
    assert "body" in str(served.partition)
    assert "add index" in words(advice)


def test_a_pattern_that_the_key_serves_gets_no_index() -> None:
    advice = tickets()
    assert "add index" not in words(advice)


# Project


def test_an_index_holds_no_more_than_its_readers_need() -> None:
    advice = tickets()
    index = advice.best.schema.tables[0].index("owner-index-narrow")
    assert index is not None
    assert index.projection == "KEYS_ONLY"
    assert advice.best.schema.by_pattern["tickets of an owner"].index == "owner-index-narrow"
    told = words(advice)["project"]
    assert told.startswith("owner-index-narrow instead of owner-index holds only the keys")
    assert "updates of other fields no longer write to it" in told


def test_an_index_whose_readers_do_not_say_what_they_need_holds_everything() -> None:
    advice = tickets(LOAD.replace(", needs: [ticketId]", ""))
    assert "project" not in words(advice)
    index = advice.best.schema.tables[0].index("owner-index")
    assert index is not None
    assert index.projection == "ALL"


# Sparse


def test_an_index_of_few_values_holds_only_the_one_that_is_read() -> None:
    advice = tickets()
    placed = advice.best.schema.by_entity["Ticket"].placement("status-index")
    assert "open tickets" in placed[0].note
    assert "sparse" in words(advice)
    assert advice.best.dollars < advice.before.dollars


def test_an_index_whose_every_value_may_be_asked_for_holds_all() -> None:
    asked = TICKETS.replace("parameters: [limit]", "parameters: [status, limit]")
    assert "sparse" not in words(tickets(design=asked))


# Shard

BUSY = LOAD.replace("create Ticket: {rate: 5}", "create Ticket: {rate: 300, peak: 900}")


EVENTS = """
design: events
tables: {Log: {key: [PK, SK]}}
entities:
  Event:
    key: {PK: DAY#<day>, SK: "EVENT#<at:iso>#<eventId>"}
    attributes: {eventId: id, day: fixed string, at: fixed timestamp, text: string}
patterns:
  events of a day:
    query: Event
    where: "PK = DAY#<day>, SK begins_with EVENT#"
    descending: true
    limit: 50
"""
MANY_EVENTS = """
entities: {Event: {items: 5000000, bytes: 800, distinct: {day: 60}, hottest: {day: 1}}}
patterns: {events of a day: {rate: 2, page: 50}}
writes: {create Event: {rate: 700, peak: 1800}}
"""


BY_STATUS = """
design: events
tables: {main: {key: [PK, SK], indexes: {ByStatus: {key: [GPK, GSK]}}}}
entities:
  Event:
    key: {PK: "DAY#{day}", SK: "{at:iso_ms}#<eventId>"}
    indexes: {ByStatus: {GPK: "STATUS#<status>", GSK: "{at:iso_ms}#<eventId>"}}
    attributes: {day: fixed date, at: fixed timestamp, eventId: id, status: "string one of a, b"}
patterns:
  events of a day: {query: Event, where: "PK = DAY#{day}", limit: 50}
  events by status: {query: Event, index: ByStatus, where: "GPK = STATUS#<status>", limit: 50}
"""
EVENTS_OF_A_YEAR = """
entities: {Event: {items: 5000000, bytes: 3000, distinct: {day: 365, status: 2}}}
patterns: {events of a day: {rate: 2, page: 50}, events by status: {rate: 1, page: 50}}
writes: {create Event: {rate: 900}}
"""


def test_a_year_of_days_does_not_spread_what_is_written_today() -> None:
    schema = loads(BY_STATUS)
    made = bill(schema, workload(EVENTS_OF_A_YEAR, schema))
    shares = {hot.key: hot.share for hot in made.hot if hot.kind == "write"}
    assert shares["DAY#{day}"] == shares["STATUS#{status}"] > 8
    assert "all new Event go to the partition of the current day" in made.assumptions


def test_a_key_over_its_partitions_limit_is_told_with_the_partitions_that_it_needs() -> None:
    for advice in (tickets(BUSY), advised(EVENTS, MANY_EVENTS)):
        (hot,) = advice.best.bill.overloads
        told = words(advice)["shard"]
        assert hot.key in told
        assert f"spread it over {hot.shards} with a shard number" in told


def test_a_key_under_its_partitions_limit_is_not_told_of() -> None:
    assert "shard" not in words(tickets())


def test_a_key_that_is_read_too_often_is_cached() -> None:
    advice = tickets(LOAD.replace("open tickets: {rate: 5,", "open tickets: {rate: 2000,"))
    assert "cache the result" in words(advice)["shard"]


# Re-key, in which order, and local indexes

TASKS = """
design: tasks
tables:
  Tasks:
    key: [taskId]
    indexes:
      owner-index: {key: [ownerId, createdAt]}
      due-index: {key: [ownerId, dueAt]}
entities:
  Task:
    key: {taskId: <taskId>}
    attributes:
      taskId: id
      ownerId: id
      createdAt: fixed timestamp
      dueAt: fixed timestamp
patterns:
  tasks: {query: Task, index: owner-index, where: ownerId = <ownerId>, rate: 90, limit: 20}
  due: {query: Task, index: due-index, where: ownerId = <ownerId>, rate: 30, limit: 20}
  task: {get: Task, where: taskId = <taskId>, consistent: true, rate: 1}
"""
FEW_WRITES = "writes: {create Task: {rate: 1/hour}}"


def test_the_key_goes_to_the_reads_that_dominate_in_their_order() -> None:
    best = alternative(advised(TASKS, FEW_WRITES), "balanced")
    assert str(best.schema.by_entity["Task"].key) == (
        "OWNER#{ownerId} / TASK#{createdAt:iso}#{taskId}"
    )


def test_the_key_stays_where_lookups_by_it_dominate() -> None:
    looked_up = TASKS.replace("rate: 1}", "rate: 200}")
    advice = advised(looked_up, FEW_WRITES)
    for made in advice.alternatives:
        assert str(made.schema.by_entity["Task"].key).startswith(("{taskId}", "TASK#{taskId}"))


def test_without_an_order_to_keep_only_the_id_stands_in_the_sort_key() -> None:
    plain = TASKS.replace("[ownerId, createdAt]", "[ownerId]")
    plain = plain.replace("  due: {query: Task, index: due-index, where: ownerId = <ownerId>, "
                          "rate: 30, limit: 20}\n", "")  # fmt: skip
    plain = plain.replace("      due-index: {key: [ownerId, dueAt]}\n", "")
    best = alternative(advised(plain, FEW_WRITES), "balanced")
    assert str(best.schema.by_entity["Task"].key) == "OWNER#{ownerId} / TASK#{taskId}"


def test_a_second_order_in_the_new_partition_is_a_local_index() -> None:
    advice = advised(TASKS, FEW_WRITES)
    best = alternative(advice, "balanced")
    index = next(i for table in best.schema.tables for i in table.indexes)
    assert index.local
    assert best.bill.consistent_share == 1
    assert "local index" in words(advice, best)


def test_a_partition_that_may_outgrow_a_local_index_gets_a_global_one() -> None:
    large = FEW_WRITES + (
        "\nentities: {Task: {items: 9000000, bytes: 40000, distinct: {ownerId: 100}}}"
    )
    for made in advised(TASKS, large).alternatives:
        assert not any(index.local for table in made.schema.tables for index in table.indexes)


SHARED = """
design: shared
tables:
  All:
    key: [PK, SK]
    indexes:
      GSI1: {key: [GSI1PK, GSI1SK]}
      GSI2: {key: [GSI2PK, GSI2SK]}
entities:
  Task:
    key: {PK: TASK#<taskId>, SK: TASK}
    indexes:
      GSI1: {GSI1PK: OWNER#<ownerId>, GSI1SK: "TASK#<createdAt:iso>#<taskId>"}
      GSI2: {GSI2PK: OWNER#<ownerId>, GSI2SK: "DUE#<dueAt:iso>#<taskId>"}
    attributes: {taskId: id, ownerId: id, createdAt: fixed timestamp, dueAt: fixed timestamp}
patterns:
  tasks:
    query: Task
    index: GSI1
    where: "GSI1PK = OWNER#<ownerId>, GSI1SK begins_with TASK#"
    rate: 90
  due: {query: Task, index: GSI2, where: "GSI2PK = OWNER#<ownerId>, GSI2SK begins_with DUE#"}
  task: {get: Task, where: "PK = TASK#<taskId>, SK = TASK", consistent: true, rate: 1}
"""


def test_a_table_that_is_there_already_gets_no_local_index() -> None:
    for made in advised(SHARED, FEW_WRITES).alternatives:
        assert not any(index.local for table in made.schema.tables for index in table.indexes)


# Copy


def test_a_consistent_lookup_keeps_a_copy_under_its_old_key() -> None:
    advice = advised(TASKS, FEW_WRITES)
    best = alternative(advice, "balanced")
    read = best.schema.by_pattern["task"]
    assert (read.kind, read.entities, read.consistent) == ("get", ("TaskById",), True)
    assert "stays consistent" in words(advice, best)["copy"]


def test_an_eventual_lookup_goes_through_an_index_instead() -> None:
    advice = advised(TASKS.replace(", consistent: true", ""), FEW_WRITES)
    best = alternative(advice, "balanced")
    assert best.schema.by_pattern["task"].index is not None
    assert best.bill.copies == 0


# Split

PROJECTS = """
design: projects
tables:
  Projects:
    key: [projectId, kind]
    indexes: {person-index: {key: [personId]}}
entities:
  Project:
    key: {projectId: <projectId>, kind: PROJECT}
    attributes: {projectId: id, name: string}
  Badge:
    key: {projectId: <projectId>, kind: BADGE#<badgeId>}
    indexes: {person-index: {personId: <personId>}}
    attributes: {projectId: id, badgeId: id, personId: id}
patterns:
  project: {get: Project, where: "projectId = <projectId>, kind = PROJECT", rate: 20}
  badges of a person: {query: Badge, index: person-index, where: personId = <personId>, rate: 90}
"""
TOGETHER = """
  a project with its badges: {collection: [Project, Badge], where: projectId = <projectId>, rate: 5}
"""


def test_what_is_never_read_together_is_split() -> None:
    advice = advised(PROJECTS, "stale_read: 1\nwrites: {create Badge: {rate: 1/hour}}")
    homes = {advice.best.schema.by_entity[name].table for name in ("Project", "Badge")}
    assert len(homes) == 2
    assert words(advice)["split"].startswith("Nothing reads them together")


def test_what_a_collection_reads_stays_together() -> None:
    advice = advised(
        PROJECTS + TOGETHER.strip("\n") + "\n", "writes: {create Badge: {rate: 1/hour}}"
    )
    for made in advice.alternatives:
        assert made.schema.by_entity["Badge"].key == advice.before.schema.by_entity["Badge"].key
    assert "split" not in words(advice)


# Keep


def test_a_design_that_is_right_is_kept() -> None:
    advice = advised("""
design: notes
entities:
  Note:
    key: {PK: USER#<userId>, SK: NOTE#<noteId>}
    attributes: {userId: id, noteId: id, text: string}
patterns:
  note: {get: Note, where: "PK = USER#<userId>, SK = NOTE#<noteId>"}
  notes: {query: Note, where: "PK = USER#<userId>, SK begins_with NOTE#", limit: 20}
""")
    assert advice.best.name == "as it is"
    assert report.document(advice).summary == advice.before.bill.assumed + (
        "Keep the keys and indexes. Each access pattern is served by a key. No key comes near its "
        "limit. No other keys serve the same patterns better."
    )
    assert set(words(advice)) == {"keep"}


# Scans, filters, lists, and moves that pay

USERS = """
design: users
entities:
  User:
    key: {PK: USER#<userId>, SK: USER}
    attributes: {userId: id, email: string, name: string, friends: list -> User}
patterns:
  User by id: {get: User, where: "PK = USER#<userId>, SK = USER"}
  User by email: {scan: User, filter: 'email = :email'}
"""
MILLION = """
entities: {User: {items: 1000000, bytes: 600, distinct: {email: 1000000}}}
patterns: {User by email: {rate: 5}, User by id: {rate: 50}}
writes: {create User: {rate: 1}}
"""


def test_a_scan_gets_the_index_that_serves_it_and_the_move_pays_within_days() -> None:
    advice = advised(USERS, MILLION)
    # 600 MB are 146,485 half units; five a second, at $0.125 a million.
    assert advice.before.bill.dollars > 100_000
    assert advice.best.bill.dollars < 20
    served = advice.best.schema.by_pattern["User by email"]
    assert (served.kind, served.filter, bool(served.index)) != ("scan", None, False)
    assert served.partition is not None
    assert served.filter is None
    assert "add index" in words(advice)
    assert advice.best.payback is not None
    assert advice.best.payback < 0.1
    assert "pays for itself within days" in report.document(advice).summary


def test_a_growing_list_is_answered_with_items() -> None:
    advice = advised(USERS, MILLION)
    assert any(
        each.startswith("User.friends holds elements without a bound: keep one item for each User")
        for each in advice.suggestions
    )


FILTERED = """
design: orders
entities:
  Order:
    key: {PK: CUSTOMER#<customerId>, SK: ORDER#<orderId>}
    attributes: {customerId: id, orderId: id, state: string like <state>, note: string}
patterns:
  Order: {get: Order, where: "PK = CUSTOMER#<customerId>, SK = ORDER#<orderId>"}
  In a state:
    query: Order
    partition: CUSTOMER#<customerId>
    filter: 'state = :state'
    limit: 20
"""
ASKED = """
entities: {Order: {items: 1000000, bytes: 900, distinct: {customerId: 100, state: 500}}}
patterns: {In a state: {rate: RATE}, Order: {rate: 1}}
writes: {create Order: {rate: 1}}
"""


def test_a_filter_gets_a_key_where_it_throws_much_away() -> None:
    advice = advised(FILTERED, ASKED.replace("RATE", "20"))
    served = advice.best.schema.by_pattern["In a state"]
    assert served.index
    assert served.filter is None
    before = {line.pattern.name: line.read.units for line in advice.before.bill.patterns}
    after = {line.pattern.name: line.read.units for line in advice.best.bill.patterns}
    assert before["In a state"] > 100 * after["In a state"]


def test_a_filter_that_is_seldom_asked_stays() -> None:
    advice = advised(FILTERED, ASKED.replace("RATE", "1/month"))
    assert advice.best.name == "as it is"
    assert advice.best.schema.by_pattern["In a state"].filter is not None


def test_nothing_moves_for_cents() -> None:
    """Fresh reads are no reason, unless the workload says what a stale one costs."""
    for line, moves in (("", False), ("stale_read: 1\n", True)):
        advice = advised(PROJECTS, line + "writes: {create Badge: {rate: 1/hour}}")
        assert (advice.best.name != "as it is") == moves
        if not moves:
            told = report.document(advice).summary
            assert "which the savings do not pay back" in told


def test_rows_that_are_fetched_one_by_one_are_answered_with_a_pointer() -> None:
    advice = advised(
        """
design: sharing
tables: {main: {key: [PK, SK], indexes: {ById: {key: [GSI1PK, GSI1SK]}}}}
entities:
  Profile:
    key: {PK: OWNER#<ownerId>, SK: PROFILE#<profileId>}
    attributes: {ownerId: id, profileId: id, name: string}
    indexes: {ById: {GSI1PK: PROFILE#<profileId>, GSI1SK: PROFILE}}
  Share:
    key: {PK: USER#<userId>, SK: SHARE#<profileId>}
    attributes: {userId: id, profileId: id -> Profile}
patterns:
  Profile by id: {query: Profile, index: ById, where: GSI1PK = PROFILE#<profileId>}
  Shared: {query: Share, partition: USER#<userId>, limit: 20, returns: [Profile]}
""",
        "patterns: {Shared: {rate: 30}}",
    )
    assert any(each.startswith("Shared reads Profile again") for each in advice.suggestions)


def test_every_schema_is_left_as_it_was() -> None:
    schema: Schema = loads(TICKETS)
    advise(schema, workload(BUSY, schema))
    assert schema == loads(TICKETS)


LISTED = """
design: hotels
tables:
  hotels: {key: [PK, SK], indexes: {GSI1: {key: [GSI1PK, GSI1SK]}}}
entities:
  Company: {key: {PK: COMPANY#<companyId>, SK: METADATA}, attributes: {companyId: fixed id}}
  Room:
    key: {PK: ROOM#<roomId>, SK: METADATA}
    indexes: {GSI1: {GSI1PK: COMPANY#<companyId>, GSI1SK: ROOM#<roomId>}}
    attributes: {roomId: fixed id, companyId: fixed id -> Company}
patterns:
  All companies: {scan: Company}
  Rooms of a company: {query: Room, index: GSI1, where: GSI1PK = COMPANY#<companyId>, limit: 50}
"""
LISTED_LOAD = """
design: hotels
entities: {Company: {items: 100, bytes: 300}, Room: {items: 3000000, bytes: 600}}
patterns: {All companies: {rate: 0.1}, Rooms of a company: {rate: 5, page: 20}}
"""


def test_a_scan_for_one_entity_of_many_is_answered_by_an_index_of_it() -> None:
    found = advised(LISTED, LISTED_LOAD)
    listed = found.best.schema.by_pattern["All companies"]
    assert (listed.kind, listed.index, str(listed.partition)) == ("query", "GSI1", "COMPANY")
    assert found.best.dollars < found.before.dollars / 10
    assert words(found)["add index"].startswith("Company in GSI1 under `COMPANY / COMPANY#")


def test_a_scan_of_all_that_a_table_holds_stays_one() -> None:
    alone = LISTED.replace("All companies: {scan: Company}", "All rooms: {scan: Room}")
    alone = alone[: alone.index("  Company:")] + alone[alone.index("  Room:") :]
    load = LISTED_LOAD.replace("All companies", "All rooms").replace(
        "Company: {items: 100, bytes: 300}, ", ""
    )
    assert advised(alone, load).best.schema.by_pattern["All rooms"].kind == "scan"


def test_a_scan_heats_no_single_key() -> None:
    schema = loads(LISTED)
    hot = bill(schema, workload(LISTED_LOAD, schema)).hot
    assert [one.key for one in hot if one.kind == "read"] == ["COMPANY#{companyId}"]
    assert all(one.path.index for one in hot if one.kind == "read")


def test_a_partition_that_everybody_shares_stays() -> None:
    shared = """
design: shop
tables: {shop: {key: [pk, sk], indexes: {back: {key: [sk, data]}}}}
entities:
  Order:
    key: {pk: "{orderId}", sk: ORDER}
    indexes: {back: {sk: ORDER, data: "{at:iso_ms}"}}
    attributes: {orderId: fixed id, at: fixed timestamp}
patterns:
  Recent orders: {query: Order, index: back, where: sk = ORDER, descending: true, limit: 25}
"""
    found = advised(shared)
    assert {one.schema.by_pattern["Recent orders"].index for one in found.alternatives} == {"back"}
