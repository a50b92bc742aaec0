"""The data files of exports, imports and bulk operations, packed or not."""

from __future__ import annotations

import zlib
from gzip import GzipFile
from importlib import import_module
from io import BufferedReader, RawIOBase
from types import ModuleType
from typing import Any, BinaryIO, Final, cast

from keyfold_engine.errors import ValidationError

DAMAGED: Final = (OSError, EOFError, ValueError, zlib.error)
"""What reading an unpacked file raises where it is damaged."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_FORMATS: Final = {"ION": "amazon.ion.simpleion", "ZSTD": "backports.zstd"}
"""The modules that read what not everybody needs: the extra `formats`."""


def format_module(name: str) -> ModuleType:
    try:
        return import_module(_FORMATS[name])
    except ImportError:
        raise ValidationError(
            f"This engine cannot read {name}; install its formats: "
            "pip install 'keyfold-engine[formats]'"
        ) from None


def check_formats(source: dict[str, Any]) -> None:
    """Refuse an input that this installation cannot read, before anything is read."""
    for member in ("InputFormat", "InputCompressionType"):
        if (name := source.get(member)) in _FORMATS:
            format_module(name)


def unpacked(file: BinaryIO) -> BinaryIO:
    """A file's content; how it is packed is recognised by its name or by how it begins."""
    begin = cast("BufferedReader", file).peek(len(_ZSTD))
    if begin.startswith(_ZSTD) or file.name.endswith(".zst"):
        return BufferedReader(_Unpacked(file))
    if begin.startswith(_GZIP) or file.name.endswith(".gz"):
        return cast("BinaryIO", GzipFile(fileobj=file))
    return file


class _Unpacked(RawIOBase):
    """A file packed by Zstandard."""

    def __init__(self, file: BinaryIO) -> None:
        self._zstd = format_module("ZSTD")
        self._content = self._zstd.open(file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            read: int = self._content.readinto(buffer)
        except self._zstd.ZstdError as error:
            raise ValueError(str(error)) from None
        return read
