"""Where credentials come from: arguments, the environment, or botocore's chain."""

from __future__ import annotations

import os
import time
from typing import Any, Final, Protocol

from keyfold_engine.clients.signer import Credentials
from keyfold_engine.errors import KeyfoldError

# Servers other than Amazon's accept any well-formed signature unless configured otherwise.
ANY: Final = Credentials("keyfold", "keyfold")
_TRUST_SECONDS: Final = 60.0


class CredentialsError(KeyfoldError):
    """No credentials were found."""


class CredentialSource(Protocol):
    """Provides credentials: at once if it can, otherwise by `load`, which may block."""

    def ready(self) -> Credentials | None: ...

    def load(self) -> Credentials: ...


class FixedCredentials:
    """Always the same credentials."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def ready(self) -> Credentials | None:
        return self._credentials

    def load(self) -> Credentials:
        return self._credentials


class Refreshing:
    """Credentials of a botocore session, refreshed every minute.

    botocore renews temporary credentials 15 minutes before they end, so caching for a minute is
    safe.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._resolved: Any = None
        self._credentials: Credentials | None = None
        self._until = 0.0

    def ready(self) -> Credentials | None:
        return self._credentials if time.monotonic() < self._until else None

    def load(self) -> Credentials:
        if self._resolved is None:
            self._resolved = self._session.get_credentials()
        if self._resolved is None:
            raise CredentialsError(
                "no AWS credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, run "
                "`aws configure` or `aws sso login`, or name a profile with ?profile=…"
            )
        frozen = self._resolved.get_frozen_credentials()
        self._credentials = Credentials(frozen.access_key, frozen.secret_key, frozen.token)
        self._until = time.monotonic() + _TRUST_SECONDS
        return self._credentials


def from_environment() -> Credentials | None:
    """The credentials in the usual environment variables."""
    access_key = os.environ.get("AWS_ACCESS_KEY_ID")
    secret_key = os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not access_key or not secret_key:
        return None
    return Credentials(access_key, secret_key, os.environ.get("AWS_SESSION_TOKEN") or None)


def source(*, profile: str | None, is_amazon: bool) -> CredentialSource:
    """The credentials for a server: botocore's chain for Amazon, any for others."""
    found = from_environment() if profile is None else None
    if found is not None:
        return FixedCredentials(found)
    if not is_amazon:
        return FixedCredentials(ANY)
    try:
        import botocore.exceptions
        import botocore.session
    except ImportError:
        raise CredentialsError(
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and profiles, SSO and roles "
            "need botocore: pip install 'keyfold-engine[aws]'"
        ) from None
    session = botocore.session.Session(profile=profile)
    try:
        session.get_scoped_config()
    except botocore.exceptions.ProfileNotFound as error:
        raise CredentialsError(str(error)) from error
    return Refreshing(session)
