"""What people hear of while they look, and relations that a question goes along."""

from __future__ import annotations

import pytest

from keyfold_web import Identity, Missing, PageRequest
from keyfold_systems.inviter.entities import Answer
from tests.systems.conftest import Recorder, served
from tests.systems.listener import heard, next_of, refusal

from .conftest import Town

PAGE = PageRequest(limit=50)


HANGOUT = "subscription ($id: String!) { hangoutChanged(hangoutId: $id) { answeredBy } }"
GROUP = "subscription ($id: String!) { groupChanged(groupId: $id) { hangoutId } }"
MINE = "subscription ($id: String!) { myListChanged(userId: $id) { changed } }"


async def test_guests_members_and_the_invited_hear_of_changes(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    async with (
        served(town.service) as web,
        heard(web, "ben", HANGOUT, id=hangout.hangout_id) as page,
        heard(web, "ben", GROUP, id=group.group_id) as feed,
        heard(web, "cleo", MINE, id="cleo") as mine,
    ):
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ada)
        assert (await next_of(page))["data"]["hangoutChanged"] == {"answeredBy": "Ada A"}
        other = await town.hangout(group, user_ids={"cleo"})
        news = {"groupChanged": {"hangoutId": other.hangout_id}}
        assert (await next_of(feed))["data"] == news
        assert (await next_of(mine))["data"]["myListChanged"] == {"changed": "UserHangout"}


async def test_members_hear_who_is_asked_into_their_group(town: Town) -> None:
    group = await town.settle()
    async with served(town.service) as web, heard(web, "ben", GROUP, id=group.group_id) as feed:
        await town.service.invite_to_group(group.group_id, "cleo", town.ada)
        assert (await next_of(feed))["data"] == {"groupChanged": {"hangoutId": None}}


async def test_strangers_hear_nothing(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    async with served(town.service) as web:
        for query, id in ((HANGOUT, hangout.hangout_id), (GROUP, group.group_id), (MINE, "ada")):
            async with heard(web, "cleo", query, id=id) as queue:
                assert await refusal(queue) == "NOT_ALLOWED"


RELATED = """
query ($user: String!, $hangout: String!) {
  myHangouts(userId: $user) {
    edges { node { title host { name } group { name members } myAnswer } }
  }
  hangout(hangoutId: $hangout) { host { name } groups { name } guests { name } }
}
"""


async def test_a_question_goes_along_relations_without_a_request_for_each(
    town: Town, client: Recorder
) -> None:
    group = await town.settle()
    for hour in range(6):
        hangout = await town.hangout(group, hours=hour + 1, user_ids={"cleo"})
    async with served(town.service) as web:
        client.requests.clear()
        variables = {"user": "ben", "hangout": hangout.hangout_id}
        answer = await web["ben"].post("/graphql", json={"query": RELATED, "variables": variables})
    assert "errors" not in answer.json(), answer.text
    data = answer.json()["data"]
    assert data["myHangouts"]["edges"][0]["node"] == {
        "title": "Run",
        "host": {"name": "Ada A"},
        "group": {"name": "Runners", "members": 2},
        "myAnswer": None,
    }
    assert data["hangout"] == {
        "host": {"name": "Ada A"},
        "groups": [{"name": "Runners"}],
        "guests": [{"name": "Cleo A"}],
    }
    assert len(client.requests) <= 12


async def test_a_first_sign_in_makes_the_profile_under_the_issuers_name(town: Town) -> None:
    named = Identity.of("eve", name=" Eve Novak ")
    for _ in range(2):
        await town.service.welcome(named)
    await town.service.welcome(Identity.of("nameless"))
    assert (await town.service.user("eve")).name == "Eve Novak"
    assert [one.user_id for one in await town.service.people("eve n", PAGE)] == ["eve"]
    with pytest.raises(Missing):
        await town.service.user("nameless")
