"""Which of Amazon's regions have which change, as of October 2026."""

from __future__ import annotations

from typing import NamedTuple

REGIONS = frozenset(
    """
    af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1
    ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5
    ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1
    eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1
    mx-central-1 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2
    """.split()  # noqa: SIM905
)


class Rollout(NamedTuple):
    """A change that reaches one region after another: the few that have it, or still lack it."""

    regions: frozenset[str]
    have_it: bool

    def reached(self, region: str) -> bool:
        return (region in self.regions) is self.have_it


def _only(*regions: str) -> Rollout:
    return Rollout(frozenset(regions), have_it=True)


def _all_but(*regions: str) -> Rollout:
    return Rollout(frozenset(regions), have_it=False)


# PutItem, GetItem, UpdateItem, DeleteItem, Query: the layer of June 2026.
ITEMS = _all_but("eu-south-2", "me-central-1")
BATCH_GET = _all_but("me-central-1")
BATCH_WRITE = _only("ap-east-2", "ap-southeast-1", "eu-central-1", "eu-north-1", "eu-west-2")
SCAN = _only("ap-east-2", "ap-northeast-2", "eu-central-1", "eu-west-2", "us-west-1")
# A filter's ConditionalOperator is checked before its values.
SCAN_OPERATOR = _only("ap-southeast-2", "eu-central-1", "eu-west-2")
# A transaction's values and statements are checked before it runs.
TRANSACT_WRITE = _only("ap-northeast-2", "eu-north-1", "eu-west-2")
TRANSACT_GET = _only("ap-northeast-2", "eu-north-1")
# A token that is too long is reported without its value.
TOKEN = _only("eu-west-2")
