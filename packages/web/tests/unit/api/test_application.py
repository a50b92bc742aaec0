"""A design in somebody's own FastAPI application: its handle, its errors, its lifespan."""

from __future__ import annotations

import logging
from typing import Annotated

import pytest
from fastapi import Depends, FastAPI, Request
from fastapi.testclient import TestClient

from keyfold import AsyncDb, Design, Entity, Id, Key, Version
from keyfold.errors import KeyfoldError
from keyfold_web.application import DesignInApp, keyfold_errors

design = Design("orders")
table = design.table("main")


class Order(Entity, table=table):
    order_id: Id
    state: str = "new"
    version: Annotated[int, Version()] = 0
    key = Key("ORDER#{order_id}", "ORDER")


database = DesignInApp(design, ":memory:")
Handle = Annotated[AsyncDb, Depends(database)]
app = FastAPI(lifespan=database.lifespan, exception_handlers=keyfold_errors)


@app.get("/orders/{order_id}")
async def read(order_id: str, db: Handle) -> Order:
    return await db.get(Order.key(order_id=order_id))


@app.put("/orders/{order_id}")
async def create(order_id: str, db: Handle) -> Order:
    return await db.create(Order(order_id=order_id))


@app.post("/orders/{order_id}/pay")
async def pay(order_id: str, db: Handle) -> Order:
    ref = Order.key(order_id=order_id)
    return await db.update(ref, state="paid", where=lambda o: o.state == "new")


@app.post("/orders")
async def order(order: Order, db: Handle) -> Order:
    return await db.create(order)


@app.post("/raw")
async def raw(request: Request, db: Handle) -> bool:
    return bool(await request.json())


@app.get("/broken-text")
async def broken_text(db: Handle) -> str:
    return b"\xff".decode()


@app.get("/fail")
async def fail(db: Handle) -> None:
    raise KeyfoldError("the secret of the table")


def test_operations_use_the_handle_that_the_lifespan_opened() -> None:
    with TestClient(app) as client:
        assert client.put("/orders/1").json()["state"] == "new"
        assert client.get("/orders/1").json()["orderId"] == "1"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/orders/2", 404, "NOT_FOUND"),
        ("PUT", "/orders/1", 409, "ALREADY_EXISTS"),
        ("POST", "/orders/1/pay", 412, "CONDITION_FAILED"),
        ("GET", "/orders/a%23b", 422, "VALUE_REFUSED"),
    ],
)
def test_errors_become_answers(method: str, path: str, status: int, code: str) -> None:
    with TestClient(app) as client:
        client.put("/orders/1")
        client.post("/orders/1/pay")
        answer = client.request(method, path)
        assert answer.status_code == status
        assert answer.json()["code"] == code
        assert answer.headers["content-type"] == "application/problem+json"


def test_an_answer_names_the_instance_that_the_log_has(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), TestClient(app) as client:
        first, second = (client.get("/fail").json()["instance"] for _ in range(2))
        given = client.get("/fail", headers={"x-request-id": "from-a-proxy"}).json()["instance"]
    assert given == "from-a-proxy"
    assert len({first, second, ""}) == 3
    assert all(any(one in said for said in caplog.messages) for one in (first, second, given))


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
@pytest.mark.parametrize("path", ["/orders", "/raw"])
@pytest.mark.parametrize("body", [b"\xff", b'{"orderId": "\xff"}'])
def test_a_body_that_is_no_text_is_the_callers_mistake(path: str, body: bytes, kind: str) -> None:
    with TestClient(app) as client:
        answer = client.post(path, content=body, headers={"content-type": kind})
    assert answer.status_code in (400, 422), answer.text


def test_refused_input_names_the_field_and_the_instance() -> None:
    with TestClient(app) as client:
        answer = client.post("/orders", json={"state": "new"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"path": "body.orderId", "message": "Field required"}]
    assert answer.json()["instance"]


def test_text_that_the_application_broke_itself_is_its_own_mistake() -> None:
    with TestClient(app, raise_server_exceptions=False) as client:
        assert client.get("/broken-text").status_code == 500


def test_an_unforeseen_error_tells_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), TestClient(app) as client:
        answer = client.get("/fail")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "GET /fail failed" in caplog.text


def test_a_design_that_is_not_open_says_what_is_missing() -> None:
    client = TestClient(app, raise_server_exceptions=False)
    assert client.get("/orders/1").status_code == 500


async def test_the_dependency_names_the_lifespan() -> None:
    with pytest.raises(KeyfoldError, match=r"lifespan=database\.lifespan"):
        await DesignInApp(design, ":memory:")()
