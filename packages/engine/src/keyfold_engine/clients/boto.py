"""Uses a caller's own boto3 client or session."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import botocore.exceptions
from botocore import xform_name

from keyfold_engine.clients.address import AddressError
from keyfold_engine.errors import KeyfoldError, Timeout, Unreachable, from_wire
from keyfold_engine.operations import STREAMS

_NEVER_SENT = (
    botocore.exceptions.EndpointConnectionError,
    botocore.exceptions.ConnectTimeoutError,
    botocore.exceptions.ProxyConnectionError,
)


class BotoClient:
    """Calls through boto3, with its owner's configuration, hooks and retries."""

    def __init__(self, given: Any) -> None:
        if hasattr(given, "client") and hasattr(given, "get_credentials"):
            self._tables, self._streams = given.client("dynamodb"), given.client("dynamodbstreams")
            return
        service = getattr(getattr(given, "meta", None), "service_model", None)
        if getattr(service, "service_name", None) != "dynamodb":
            raise AddressError(
                type(given).__name__, "not an address, a boto3 session or its DynamoDB client"
            )
        self._tables, self._streams = given, None

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        client = self._streams if operation in STREAMS else self._tables
        if client is None:
            raise KeyfoldError(
                f"{operation} needs boto3's dynamodbstreams client: give the boto3 session instead"
            )
        try:
            answer = getattr(client, xform_name(operation))(**_to_boto(request))
        except botocore.exceptions.ClientError as error:
            raise _translate(error) from error
        except _NEVER_SENT as error:
            raise Unreachable(str(error), sent=False) from error
        except botocore.exceptions.ReadTimeoutError as error:
            raise Timeout(str(error)) from error
        except botocore.exceptions.HTTPClientError as error:
            raise Unreachable(str(error)) from error
        answer.pop("ResponseMetadata", None)
        decoded: dict[str, Any] = _from_boto(answer)
        return decoded

    def close(self) -> None:
        """Does nothing: the client belongs to its owner."""


class AsyncBotoClient:
    """`BotoClient` for an event loop; each call runs in a thread, because boto3 blocks."""

    def __init__(self, given: Any) -> None:
        self._client = BotoClient(given)

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self._client.call, operation, request)

    async def close(self) -> None:
        self._client.close()


def _translate(error: botocore.exceptions.ClientError) -> KeyfoldError:
    response: Any = error.response
    body = {
        "__type": response["Error"].get("Code", ""),
        "message": response["Error"].get("Message", ""),
        "CancellationReasons": _from_boto(response.get("CancellationReasons", [])),
    }
    for member in ("ThrottlingReasons", "throttlingReasons"):
        if member in response:
            body[member] = response[member]
    if "Item" in response:
        body["Item"] = _from_boto(response["Item"])
    return from_wire(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400), body)


def _to_boto(value: Any) -> Any:
    """The request with bytes in place of base64, because boto3 encodes binary itself.

    Text under the key B, or a list of text under BS, is an attribute value everywhere in the API.
    """
    if isinstance(value, Mapping):
        if len(value) == 1:
            if isinstance(text := value.get("B"), str):
                return {"B": base64.b64decode(text)}
            texts = value.get("BS")
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
                return {"BS": [base64.b64decode(text) for text in texts]}
        return {name: _to_boto(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_boto(member) for member in value]
    return value


def _from_boto(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _from_boto(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_from_boto(member) for member in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.timestamp()
    return value
