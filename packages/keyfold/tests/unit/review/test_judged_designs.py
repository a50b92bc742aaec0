"""Designs of people who never heard of the reviewer, judged by a reader before it ran.

`docs/judged.md` gives the figures that come of it, and says what was wrong at the first run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.check import Finding, check

HERE = Path(__file__).parent / "judged"
EXPECTED: dict[str, list[dict[str, str]]] = yaml.safe_load(
    (HERE / "expected.yaml").read_text(encoding="utf-8")
)
FINDINGS = Path(__file__).parents[5] / "docs" / "judged.md"

DOUBTFUL = {
    ("crop_alerts", "Q12", "Climate of a parcel"): "the program compares it, as the page says",
    ("trainer_bot", "X19", "confirm payment on Payment"): "how the key is written is not said",
    ("code_reviews", "K6", "Review and 6 more"): "names of repositories hold no #",
    ("go_orders", "X3", "status-date-gsi"): "the page reads it, in a second form of one pattern",
    ("sensor_buckets", "K7", "Reading"): "a sensor reports every ten seconds",
    (
        "category_shop",
        "K8",
        "ProductCategory",
    ): "nothing reads the price that stands behind the day",
    ("category_shop", "X8", "Category"): "a shop has few categories, which the source does not say",
    ("auth_js", "X6", "linkAccount"): "an account that was just linked is not read at once",
    ("skills", "X3", "Project on GSI1"): "projects are an example for later",
    ("product_catalog", "X8", "Brand, Category"): "a shop has few of either",
    ("phone_billing", "K7", "Address"): "nobody has two addresses from one second on",
    ("highscore", "K7", "PlayDate"): "nobody ends two games in one second",
    ("shopping_cart", "Q14", "Cart of a user, Anonymous cart"): "a cart is small",
    ("chat_rooms", "X6", "joinRoom"): "a connection that ends at once is rare",
    ("health_records", "X3", "Appointment on GSI1"): "a provider's list reads them too",
    ("run_awards", "Q3", "Events of a correlation"): "what belongs together is read from its start",
    ("talk_roulette", "Q12", "Sessions as first, Sessions as second"): "a history has no validity",
    ("seat_sales", "S4", "kafka"): "the page does not say how the connector retries",
    ("quiz_master", "K7", "Score"): "nobody ends a quiz twice in one millisecond",
    ("form_relay", "S4", "notify"): "the page does not say how the function retries",
    ("team_insights", "Q12", "Team report"): "a report that is a day old harms nobody",
    (
        "team_insights",
        "Q12",
        "GitHub data of a user, All cached data",
    ): "a cache that is a little older harms nobody",
    ("podcast_app", "W6", "Share.podcastIds"): "a share is made once",
    ("podcast_app", "W7", "Share.podcastIds"): "a share is made once",
    ("social_graph", "S4", "feeds"): "the page does not say how the function retries",
    ("microblog_polls", "W2", "vote on Poll"): "an update inside a map fails where there is none",
    ("document_pipeline", "X3", "GSI2"): "the page does not say what the second index is for",
    (
        "document_pipeline",
        "X19",
        "advance on Steps",
    ): "how the key is written is not said",
    (
        "lakehouse_catalog",
        "K6",
        "Table, Table on namespace-identifier",
    ): "the code refuses names with a dot",
}
"""Findings that an expert would leave out, knowing what the source takes for granted."""
ALSO_TRUE = {
    ("category_shop", "Q6", "Products by category by date"): "the last day's products are left out",
    ("health_records", "X3", "Document on GSI1"): "the pattern asks another index",
    ("health_records", "X3", "Record on GSI2"): "no pattern asks for records by type",
    ("run_awards", "K5", "Milestone and Award"): "milestones cannot be read without awards",
    ("run_awards", "K8", "Award"): "the tenth part comes before the second",
    ("run_awards", "K8", "Part"): "the tenth part comes before the second",
    (
        "seat_sales",
        "Q12",
        "Active reservations of a user, Expired reservations, Reservation",
    ): "an expired reservation stays for days",
    ("clinic", "K7", "Record"): "two records of one millisecond are one",
    ("clinic", "K7", "Patient"): "two patients of one millisecond are one",
    ("quiz_master", "K7", "Quiz"): "two quizzes of one millisecond are one",
    ("quiz_master", "Q4", "Scores of a user"): "they accumulate",
    ("coin_pulse", "Q4", "User transactions"): "they accumulate",
    ("coin_pulse", "W2", "trade on Portfolio"): "the page sets the balance without a condition",
    ("file_links", "W7", "File.sharedWith"): "two people who share at once lose one",
    ("podcast_app", "X3", "ReleaseDateIndex"): "no pattern of the page reads it",
    ("podcast_app", "X14", "add podcast"): "the index is asked before the put",
    ("photo_social", "X3", "Comment on GSI1"): "no pattern reads it",
    ("photo_social", "X3", "User on GSI1"): "no pattern reads it",
    ("photo_social", "X3", "UserPost on GSI1"): "no pattern reads it",
    ("photo_social", "W1", "like on Like"): "two taps count twice",
    ("photo_social", "W1", "unlike on Like"): "two taps count twice",
    ("photo_social", "W2", "moderate on Post"): "the update has no condition",
    ("photo_social", "W3", "like"): "the count and the like are two writes",
    ("photo_social", "W3", "unlike"): "the count and the like are two writes",
    ("social_graph", "X3", "User on GSI1"): "no pattern reads it",
    ("social_graph", "X3", "FeedItem on GSI1"): "no pattern reads it",
    ("social_graph", "X3", "Like on GSI1"): "no pattern reads it",
    ("social_graph", "X3", "Comment on GSI1"): "no pattern reads it",
    ("social_graph", "X3", "Follow on GSI2"): "no pattern reads it",
    ("social_graph", "X3", "Comment on GSI2"): "no pattern reads it",
    ("social_graph", "X3", "GSI3"): "no pattern reads it",
    ("telegram_polls", "W1", "createPoll on Poll"): "a repeated time replaces a poll",
    ("theatre", "Q2", "Show with reviews"): "performances and venues lie in the same partition",
    ("employees", "Q6", "Comparable salaries"): "equal salaries are left out by the bound",
    ("banking", "Q2", "Accounts of a customer"): "the partition holds four kinds of items",
    ("acme_bank", "S4", "Aggregation"): "a record that fails blocks its shard",
    ("bank_payments", "K7", "Transaction"): "two transactions of one second are one item",
}
"""Findings that are right, and that the reader had not written down."""


def text_of(name: str) -> str:
    return (HERE / f"{name}.yaml").read_text(encoding="utf-8")


def findings(name: str) -> tuple[Finding, ...]:
    report = check(loads(text_of(name)))
    assert report.crashes == ()
    return report.findings


def alarms(name: str) -> list[Finding]:
    return [one for one in findings(name) if one.severity in ("error", "warning")]


def test_each_names_its_source() -> None:
    assert set(EXPECTED) == {path.stem for path in HERE.glob("*.yaml")} - {"expected"}
    assert all(text_of(name).startswith("# Source: ") for name in EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_reader_found_is_said_as_it_is_written_down(name: str) -> None:
    codes = {one.code for one in findings(name) if one.severity != "question"}
    asked = {one.code for one in findings(name) if one.severity == "question"}
    for one in EXPECTED[name]:
        if one["said"] == "question":
            assert asked
        elif one["said"] not in ("nothing", "refused"):
            assert one["said"] in codes, one["why"]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_alarm_is_judged_and_none_is_wrong(name: str) -> None:
    wanted = {one["said"] for one in EXPECTED[name]}
    unjudged = [
        one
        for one in alarms(name)
        if one.code not in wanted
        and (name, one.code, one.subjects) not in {**DOUBTFUL, **ALSO_TRUE}
    ]
    assert unjudged == []


def test_a_condition_on_an_attribute_that_the_index_lacks_is_refused() -> None:
    wrong = text_of("order_store").replace("GSI1SK begins_with ITEM#", "SK begins_with ITEM#")
    with pytest.raises(KeyfoldError, match=r":35:\d+: 'SK begins_with ITEM#' is not about GSI1PK"):
        loads(wrong)


def test_the_page_gives_these_figures() -> None:
    said = [one["said"] for several in EXPECTED.values() for one in several]
    found = sum(one not in ("nothing", "question") for one in said)
    raised = sum(len(alarms(name)) for name in EXPECTED)
    told = {(name, one.code, one.subjects) for name in EXPECTED for one in alarms(name)}
    assert set(DOUBTFUL) | set(ALSO_TRUE) <= told
    page = " ".join(FINDINGS.read_text(encoding="utf-8").split())
    assert f"{found} of {len(said)} are found, {said.count('question')} are asked" in page
    assert f"Of {raised} errors and warnings {raised - len(DOUBTFUL)} are true" in page
