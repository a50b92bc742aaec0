"""Sinks: destinations of domain events. Delivery is at least once; an event keeps its id."""

from __future__ import annotations

import hashlib
import hmac
import urllib.request
from typing import Any, Final, Protocol

from keyfold.errors import KeyfoldError
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow, Invoke
from keyfold.streams import support_table
from keyfold.streams.event import Event, read_event

SIGNATURE_HEADER: Final = "X-Keyfold-Signature"
EVENT_HEADER: Final = "X-Keyfold-Event"
TIMEOUT_SECONDS: Final = 10.0


class Sink(Protocol):
    """Receives events; an error means that it did not accept this one."""

    name: str

    def deliver(self, context: Context, event: Event) -> Flow[None]: ...


class Queue:
    """A durable queue beside the data."""

    def __init__(self, name: str = "events") -> None:
        self.name = name

    def _partition(self, context: Context) -> str:
        return f"QUEUE#{context.design.name}#{self.name}"

    def _key(self, context: Context, event: Event) -> dict[str, Any]:
        return support_table.key(self._partition(context), f"{event.order}#{event.id}")

    def deliver(self, context: Context, event: Event) -> Flow[None]:
        body = {"S": event.body().decode()}
        yield from support_table.put(context, {**self._key(context, event), "event": body})

    def messages(self, context: Context, limit: int | None = None) -> Flow[list[Event]]:
        """The queued events, oldest first."""
        items = yield from support_table.partition(context, self._partition(context), limit=limit)
        return [read_event(item) for item in items]

    def done(self, context: Context, event: Event) -> Flow[bool]:
        """Remove an event; returns False if another worker did."""
        return (yield from support_table.delete(context, self._key(context, event)))


class Webhook:
    """Posts each event as JSON, signed with HMAC-SHA256 of the body."""

    def __init__(self, url: str, secret: str, *, seconds: float = TIMEOUT_SECONDS) -> None:
        if not url.startswith(("http://", "https://")):
            raise KeyfoldError(f"a webhook URL must start with http:// or https://, not {url!r}")
        self.url, self.name, self.seconds = url, url, seconds
        self._secret = secret.encode()

    def signature(self, body: bytes) -> str:
        """The expected value of the signature header."""
        return f"sha256={hmac.new(self._secret, body, hashlib.sha256).hexdigest()}"

    def deliver(self, context: Context, event: Event) -> Flow[None]:  # noqa: ARG002
        yield Invoke(lambda: self._post(event), 2 * self.seconds, f"webhook {self.name}")

    def _post(self, event: Event) -> None:
        body = event.body()
        request = urllib.request.Request(
            self.url,
            data=body,
            headers={
                "Content-Type": "application/json",
                EVENT_HEADER: event.id,
                SIGNATURE_HEADER: self.signature(body),
            },
        )
        with urllib.request.urlopen(request, timeout=self.seconds) as answer:
            answer.read()


class EventBridge:
    """Puts events on an EventBridge bus; needs botocore and AWS credentials."""

    def __init__(self, bus: str, source: str, *, client: Any = None) -> None:
        self.bus, self.source, self.name = bus, source, f"bus {bus}"
        self._client = client or _aws_client("events")

    def deliver(self, context: Context, event: Event) -> Flow[None]:  # noqa: ARG002
        yield Invoke(lambda: self._put(event), TIMEOUT_SECONDS, self.name)

    def _put(self, event: Event) -> None:
        entry = {
            "EventBusName": self.bus,
            "Source": self.source,
            "DetailType": event.name,
            "Detail": event.body().decode(),
            "Time": event.at,
        }
        answer = self._client.put_events(Entries=[entry])
        if answer["FailedEntryCount"]:
            refused = answer["Entries"][0]
            raise KeyfoldError(f"{self.name} refused {event.id}: {refused.get('ErrorMessage')}")


class Sqs:
    """Sends events to an SQS queue; a FIFO queue keeps the order per key."""

    def __init__(self, url: str, *, client: Any = None) -> None:
        self.url, self.name = url, f"queue {url}"
        self._client = client or _aws_client("sqs")

    def deliver(self, context: Context, event: Event) -> Flow[None]:  # noqa: ARG002
        yield Invoke(lambda: self._send(event), TIMEOUT_SECONDS, self.name)

    def _send(self, event: Event) -> None:
        request: dict[str, Any] = {"QueueUrl": self.url, "MessageBody": event.body().decode()}
        if self.url.endswith(".fifo"):
            group = hashlib.sha256(event.key.encode()).hexdigest()
            identity = hashlib.sha256(event.id.encode()).hexdigest()
            request |= {"MessageGroupId": group, "MessageDeduplicationId": identity}
        self._client.send_message(**request)


def _aws_client(service: str) -> Any:
    try:
        from botocore.session import get_session
    except ImportError:
        raise KeyfoldError(
            f"sending events to AWS {service} needs botocore, which is not installed"
        ) from None
    return get_session().create_client(service)
