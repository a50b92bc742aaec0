"""Mail to people: by the server that TAMAFRIENDS_SMTP names, or into the log for development."""

from __future__ import annotations

import asyncio
import logging
import os
import smtplib
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Protocol
from urllib.parse import unquote, urlsplit

from keyfold.errors import KeyfoldError

VARIABLE = "TAMAFRIENDS_SMTP"
CONSOLE = "console"
_SECONDS = 20

log = logging.getLogger("keyfold.tamafriends")


class Mail(Protocol):
    """Something that sends a message."""

    async def send(self, to: str, subject: str, text: str) -> None: ...


@dataclass(frozen=True)
class SmtpMail:
    """A mail server: `smtp://user:password@host:port`, or `smtps://` with TLS from the start."""

    address: str

    async def send(self, to: str, subject: str, text: str) -> None:
        """Hand the message over."""
        message = EmailMessage()
        message["To"], message["Subject"] = to, subject
        message["From"] = f"TamaFriends <no-reply@{urlsplit(self.address).hostname}>"
        message.set_content(text)
        await asyncio.to_thread(self._send, message)

    def _send(self, message: EmailMessage) -> None:
        place = urlsplit(self.address)
        secure = place.scheme == "smtps"
        server = smtplib.SMTP_SSL if secure else smtplib.SMTP
        with server(place.hostname or "", place.port or 0, timeout=_SECONDS) as connection:
            if not secure and connection.ehlo()[0] == 250 and connection.has_extn("starttls"):
                connection.starttls()
            if place.username:
                connection.login(unquote(place.username), unquote(place.password or ""))
            connection.send_message(message)


class LoggedMail:
    """Messages in the log, where a developer reads them."""

    async def send(self, to: str, subject: str, text: str) -> None:
        """Log the message."""
        log.warning("mail to %s: %s\n%s", to, subject, text)


def from_environment() -> Mail | None:
    """What the environment names; None where it names nothing."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return None
    if address == CONSOLE:
        return LoggedMail()
    place = urlsplit(address)
    if place.scheme not in ("smtp", "smtps") or not place.hostname:
        raise KeyfoldError(f"{VARIABLE} must be smtp://host:port, smtps://… or {CONSOLE}.")
    return SmtpMail(address)
