"""Following change streams: consumers, processors, dead letters, domain events."""

from keyfold.streams.consumer import AsyncConsumer, Consumer
from keyfold.streams.deadletter import DeadLetter, drop, letter, letters
from keyfold.streams.event import Delivery, Event
from keyfold.streams.handler import stream_handler
from keyfold.streams.lease import resume
from keyfold.streams.outbox import forget, waiting
from keyfold.streams.policy import Policy
from keyfold.streams.record import Change
from keyfold.streams.record_batch import Outcome
from keyfold.streams.replay import replay
from keyfold.streams.sinks import EventBridge, Queue, Sink, Sqs, Webhook
from keyfold.streams.status import ShardStatus, StreamStatus, status
from keyfold.streams.tail import Tail
from keyfold.streams.worker_shards import ConsumerOptions

__all__ = [
    "AsyncConsumer",
    "Change",
    "Consumer",
    "ConsumerOptions",
    "DeadLetter",
    "Delivery",
    "Event",
    "EventBridge",
    "Outcome",
    "Policy",
    "Queue",
    "ShardStatus",
    "Sink",
    "Sqs",
    "StreamStatus",
    "Tail",
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
