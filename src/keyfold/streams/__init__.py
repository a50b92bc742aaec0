"""Following change streams: consumers, processors, dead letters, domain events."""

from keyfold.streams.consumer import AsyncConsumer, Consumer
from keyfold.streams.deadletter import DeadLetter, drop, letter, letters
from keyfold.streams.event import Delivery, Event
from keyfold.streams.following import Options
from keyfold.streams.handler import stream_handler
from keyfold.streams.lease import resume
from keyfold.streams.outbox import forget, waiting
from keyfold.streams.policy import Policy
from keyfold.streams.processing import Outcome
from keyfold.streams.replay import replay
from keyfold.streams.sinks import EventBridge, Queue, Sink, Sqs, Webhook
from keyfold.streams.status import ShardStatus, Status, status

__all__ = [
    "AsyncConsumer",
    "Consumer",
    "DeadLetter",
    "Delivery",
    "Event",
    "EventBridge",
    "Options",
    "Outcome",
    "Policy",
    "Queue",
    "ShardStatus",
    "Sink",
    "Sqs",
    "Status",
    "Webhook",
    "drop",
    "forget",
    "letter",
    "letters",
    "replay",
    "resume",
    "status",
    "stream_handler",
    "waiting",
]
