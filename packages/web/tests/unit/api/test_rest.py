"""Operations over REST."""

from __future__ import annotations

import gzip

import httpx
import pytest

Headers = dict[str, dict[str, str]]


async def test_a_query_answers_camel_case_json_with_the_version_as_etag(
    rest: httpx.AsyncClient,
) -> None:
    answer = await rest.get("/clubs/chess")
    assert answer.status_code == 200
    assert answer.json() == {
        "clubId": "chess",
        "title": "Chess",
        "ownerId": "olga",
        "mood": "calm",
        "createdAt": "2026-01-01T00:00:00Z",
        "version": 3,
    }
    assert answer.headers["etag"] == '"3"'


@pytest.mark.parametrize("known", ['"3"', 'W/"3"', '"1", W/"3" ,"7"', "*"])
async def test_what_the_caller_has_already_is_not_sent_again(
    rest: httpx.AsyncClient, known: str
) -> None:
    answer = await rest.get("/clubs/chess", headers={"if-none-match": known})
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize("known", ['"2"', 'W/"33"', "3", "", '"*"'])
async def test_what_the_caller_does_not_have_is_sent(rest: httpx.AsyncClient, known: str) -> None:
    answer = await rest.get("/clubs/chess", headers={"if-none-match": known})
    assert answer.status_code == 200


async def test_a_wrong_method_hears_all_that_the_path_takes(rest: httpx.AsyncClient) -> None:
    answer = await rest.patch("/clubs/chess")
    assert (answer.status_code, answer.headers["allow"]) == (405, "DELETE, GET, HEAD")


async def test_of_a_name_that_is_twice_in_a_body_the_last_is_checked_and_used(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    headers = people["mia"] | {"content-type": "application/json"}
    twice = b'{"title": 5, "title": "Go"}', b'{"title": "Go", "title": 5}'
    made, refused = [await rest.post("/clubs", content=one, headers=headers) for one in twice]
    assert (made.status_code, made.json()["title"]) == (201, "Go")
    assert refused.status_code == 422


async def test_a_compressed_body_is_refused_as_such(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    headers = {
        **people["mia"],
        "content-type": "application/json",
        "content-encoding": "gzip",
    }
    answer = await rest.post("/clubs", content=gzip.compress(b'{"title": "Go"}'), headers=headers)
    assert answer.status_code == 415
    assert "Content-Encoding" in answer.json()["detail"]


async def test_a_parameter_that_takes_one_value_is_not_given_twice(
    rest: httpx.AsyncClient,
) -> None:
    answer = await rest.get("/clubs/newest?limit=1&limit=2")
    assert answer.json()["errors"] == [
        {"path": "limit", "message": "is given 2 times, but takes one value"}
    ]
    unknown = await rest.get("/clubs/newest?nothing=1&nothing=2")
    assert unknown.json()["errors"][0]["message"] == "is unknown"


@pytest.mark.parametrize(
    ("path", "where"),
    [("/clubs/%FF", "path"), ("/clubs/a%C3", "path"), ("/clubs/newest?tags=%FF", "query")],
)
async def test_a_path_or_query_that_is_not_utf_8_is_refused(
    rest: httpx.AsyncClient, path: str, where: str
) -> None:
    answer = await rest.get(path)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"path": where, "message": "is not UTF-8 text"}]


async def test_the_replacement_character_itself_is_text(rest: httpx.AsyncClient) -> None:
    assert (await rest.get("/clubs/%EF%BF%BD")).status_code == 404


async def test_a_literal_path_wins_over_a_placeholder(rest: httpx.AsyncClient) -> None:
    answer = await rest.get("/clubs/newest", params={"limit": 1, "tags": ["a", "b"]})
    assert [club["clubId"] for club in answer.json()] == ["chess"]


async def test_a_model_parameter_is_the_json_body(rest: httpx.AsyncClient, people: Headers) -> None:
    answer = await rest.post("/clubs", json={"title": "Go", "mood": "loud"}, headers=people["mia"])
    assert answer.status_code == 201
    assert answer.json()["ownerId"] == "mia"
    assert answer.json()["mood"] == "loud"


async def test_plain_parameters_of_a_mutation_are_fields_of_the_body(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    answer = await rest.post("/clubs/chess/posts", json={"text": "Hi"}, headers=people["mia"])
    assert (answer.status_code, answer.json()["text"]) == (201, "Hi")


async def test_a_repeated_idempotency_key_has_one_effect(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    headers = {**people["mia"], "idempotency-key": "one"}
    first = await rest.post("/clubs", json={"title": "Go"}, headers=headers)
    second = await rest.post("/clubs", json={"title": "Go"}, headers=headers)
    assert first.json() == second.json()


async def test_somebody_elses_idempotency_key_is_another_one(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    made = [
        await rest.post(
            "/clubs", json={"title": "Go"}, headers={**people[who], "idempotency-key": "one"}
        )
        for who in ("mia", "olga")
    ]
    assert [answer.json()["ownerId"] for answer in made] == ["mia", "olga"]


async def test_if_match_refuses_a_stale_writer(rest: httpx.AsyncClient, people: Headers) -> None:
    async def rename(tag: str) -> httpx.Response:
        headers = {**people["olga"], "if-match": tag}
        return await rest.put("/clubs/chess/title", json={"title": "X"}, headers=headers)

    assert (await rename('"2"')).status_code == 412
    assert (await rename("yesterday")).status_code == 422
    fresh = await rename('W/"3"')
    assert (fresh.status_code, fresh.headers["etag"]) == (200, '"4"')


async def test_pages_are_linked_to_the_last(rest: httpx.AsyncClient, people: Headers) -> None:
    seen, url = [], "/clubs/chess/posts?limit=2"
    while url:
        answer = await rest.get(url, headers=people["mia"])
        page = answer.json()
        seen += [post["postId"] for post in page["items"]]
        assert (f'<{page["next"]}>; rel="next"' == answer.headers.get("link")) == bool(page["next"])
        url = page["next"]
    assert seen == ["p0", "p1", "p2", "p3", "p4"]


async def test_an_operation_without_a_result_answers_204(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    answer = await rest.delete("/clubs/chess", headers=people["olga"])
    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize(
    ("method", "url", "body", "path"),
    [
        ("POST", "/clubs", {"title": ""}, "title"),
        ("POST", "/clubs", {"title": "x", "colour": "red"}, "colour"),
        ("POST", "/clubs", {"title": 5}, "title"),
        ("POST", "/clubs", {"title": "x", "mood": "sad"}, "mood"),
        ("POST", "/clubs", [], "body"),
        ("GET", "/clubs/chess/posts?limit=0", None, "limit"),
        ("GET", "/clubs/chess/posts?limit=201", None, "limit"),
        ("GET", "/clubs/chess/posts?limit=1&limit=2", None, "limit"),
        ("GET", "/clubs/chess/posts?limt=1", None, "limt"),
        ("GET", "/clubs/chess/posts?clubId=go", None, "clubId"),
        ("GET", f"/clubs/{'x' * 1025}", None, "clubId"),
    ],
)
async def test_wrong_input_is_refused_naming_the_field(
    rest: httpx.AsyncClient, people: Headers, method: str, url: str, body: object, path: str
) -> None:
    headers = people["mia"]
    answer = await rest.request(method, url, json=body, headers=headers)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert path in [error["path"] for error in answer.json()["errors"]]


async def test_a_body_that_is_no_json_or_too_large_is_refused(
    rest: httpx.AsyncClient, people: Headers
) -> None:
    json_kind = {**people["mia"], "content-type": "application/json"}
    assert (await rest.post("/clubs", content=b"{", headers=json_kind)).status_code == 422
    assert (await rest.post("/clubs", content=b"{}", headers=people["mia"])).status_code == 415
    large = b'"' + b"x" * 2_000_000 + b'"'
    assert (await rest.post("/clubs", content=large, headers=json_kind)).status_code == 413


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("NotFound", 404, "NOT_FOUND"),
        ("AlreadyExists", 409, "ALREADY_EXISTS"),
        ("UniqueTaken", 409, "TAKEN"),
        ("VersionConflict", 412, "VERSION_CONFLICT"),
        ("ConditionFailed", 412, "CONDITION_FAILED"),
        ("TransactionConflict", 409, "CONFLICT"),
        ("CursorRefused", 400, "CURSOR_REFUSED"),
        ("RequestReused", 422, "REQUEST_REUSED"),
        ("KeyValueRefused", 422, "VALUE_REFUSED"),
        ("ValueRefused", 422, "VALUE_REFUSED"),
        ("Throttled", 503, "UNAVAILABLE"),
        ("Timeout", 503, "UNAVAILABLE"),
        ("BudgetExceeded", 500, "INTERNAL"),
        ("Undecodable", 500, "INTERNAL"),
        ("ValidationError", 422, "VALUE_REFUSED"),
        ("unforeseen", 500, "INTERNAL"),
    ],
)
async def test_errors_of_the_data_become_problems_that_say_nothing_internal(
    rest: httpx.AsyncClient, people: Headers, kind: str, status: int, code: str
) -> None:
    answer = await rest.get(f"/failures/{kind}", headers=people["root"])
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "SECRET" not in answer.text
    assert ("retry-after" in answer.headers) == (status == 503 or kind == "TransactionConflict")


async def test_unknown_paths_and_methods_are_problems_too(rest: httpx.AsyncClient) -> None:
    lost = await rest.get("/nowhere")
    assert (lost.status_code, lost.json()["code"]) == (404, "NOT_FOUND")
    wrong = await rest.patch("/clubs/chess")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert "allow" in wrong.headers


@pytest.mark.parametrize("trick", ["chess%23x", "chess%2Fposts", "%00", "ch%C3%A9ss", "..%2Fchess"])
async def test_odd_ids_find_nothing_that_is_not_theirs(rest: httpx.AsyncClient, trick: str) -> None:
    answer = await rest.get(f"/clubs/{trick}")
    assert answer.status_code in (404, 403, 401)
