"""Heat and growth, computed where the design gives rates, sizes and numbers."""

from __future__ import annotations

from keyfold.design.file import loads
from keyfold.review.check import check


def told(text: str, code: str) -> list[str]:
    report = check(loads(text), select=[code])
    assert report.crashes == ()
    return [finding.message for finding in report.findings]


def members(number: int, requests: int) -> str:
    return f"""
design: d
entities:
  Member:
    key: {{PK: GROUP#<groupId>, SK: MEMBER#<userId>}}
    per_partition: {number}
    bytes: 2000
patterns:
  Members: {{query: Member, where: PK = GROUP#<groupId>, requests: {requests}}}
"""


def test_a_bounded_result_must_fit_its_budget() -> None:
    assert told(members(5000, 1), "Q4") == [
        "may make 1 request, and 5,000 items of 2,000 bytes fill 10 pages"
    ]
    assert told(members(5000, 10), "Q4") == []
    assert told(members(500, 1), "Q4") == []


def front_page(rate: int) -> str:
    return f"""
design: d
entities:
  Story: {{key: {{PK: FRONT, SK: STORY#<storyId>}}, bytes: 4000}}
patterns:
  Front page: {{query: Story, partition: FRONT, limit: 20, rate: {rate}}}
"""


def test_one_key_can_be_read_three_thousand_units_a_second() -> None:
    # 20 items of 4,000 bytes are 20 units, halved for an eventual read.
    assert told(front_page(400), "S2") == [
        "reads `FRONT` with 4,000 units a second; one partition serves 3,000"
    ]
    assert told(front_page(300), "S2") == []


def writes(peak: int, size: int) -> str:
    return f"""
design: d
entities:
  Event: {{key: {{PK: DAY#<day>, SK: EVENT#<eventId>}}, peak: {peak}, bytes: {size}}}
"""


def test_larger_items_heat_a_partition_sooner() -> None:
    assert told(writes(600, 1000), "S2") == []
    assert told(writes(600, 1500), "S2") == [
        "writes 1,200 units a second to one partition at its peak; a partition takes 1,000"
    ]
