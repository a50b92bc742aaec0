"""Which members of the service model's responses come here, and why others do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conformance.responses import members

NEVER = {
    "Amazon archives and loses access to keys": (
        "TableDescription.ArchivalSummary",
        "ArchivalSummary.",
        "SSEDescription.InaccessibleEncryptionDateTime",
        "ReplicaDescription.ReplicaInaccessibleDateTime",
    ),
    "a replica is created at once or after a delay; it cannot fail and has no progress": (
        "ReplicaDescription.ReplicaStatusDescription",
        "ReplicaDescription.ReplicaStatusPercentProgress",
    ),
    "the operations of the 2017 version of global tables are refused, as on Amazon": (
        "CreateGlobalTableOutput.",
        "UpdateGlobalTableOutput.",
        "UpdateGlobalTableSettingsOutput.",
        "DescribeGlobalTableOutput.",
        "DescribeGlobalTableSettingsOutput.",
        "ListGlobalTablesOutput.LastEvaluatedGlobalTableName",
        "GlobalTable.",
        "GlobalTableDescription.",
        "Replica.",
        "ReplicaSettingsDescription.",
        "ReplicaGlobalSecondaryIndexSettingsDescription.",
    ),
    "there is no CloudWatch": (
        "ImportSummary.CloudWatchLogGroupArn",
        "ImportTableDescription.CloudWatchLogGroupArn",
    ),
    "an export to a directory and contributor insights do not fail": (
        "ExportDescription.FailureCode",
        "ExportDescription.FailureMessage",
        "DescribeContributorInsightsOutput.FailureException",
        "FailureException.",
    ),
    "backups of a deleted table are not made, so none expires": (
        "BackupDetails.BackupExpiryDateTime",
        "BackupSummary.BackupExpiryDateTime",
    ),
    "all 50 tags fit into one answer": ("ListTagsOfResourceOutput.NextToken",),
    "a shard of a stream is not split": ("Shard.ParentShardId",),
    "an index of a replica is as warm as the table's own": (
        "ReplicaGlobalSecondaryIndexDescription.WarmThroughput",
    ),
}
"""Why a member does not come here, and which: a name, or all of a shape."""


@pytest.mark.long
def test_every_member_of_every_response_comes_or_is_explained(tmp_path: Path) -> None:
    kept = tmp_path / "members"
    operations = Path(__file__).with_name("operations")
    chosen = "not http and not boto3"
    done = subprocess.run(
        (
            sys.executable,
            *f"-m pytest -q -p no:cacheprovider {operations} -k".split(),
            chosen,
        ),
        env={**os.environ, "RESPONSE_MEMBERS": str(kept)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    absent = sorted(members() - set(kept.read_text().split()))
    names = [name for group in NEVER.values() for name in group]
    assert [one for one in absent if not any(_is(one, name) for name in names)] == []
    assert [name for name in names if not any(_is(one, name) for one in absent)] == []


def _is(member: str, name: str) -> bool:
    return member.startswith(name) if name.endswith(".") else member == name
