"""Files of COPY BINARY."""

import itertools
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from ._library import NeardupError
from ._values import as_value

# Rows of a block.
_CHUNK = 1024


def copy_binary(ids: Iterable[int | str], values: Iterable[Any]) -> Iterator[bytes]:
    """Yields what COPY table (id, value) FROM STDIN (FORMAT binary) takes, in blocks.

    ids are int, for a column of type bigint, or str, for one of type text; as many as values.  Values are bytes, or
    the rows of an array of uint8, or None for null; their column has their SQL type."""
    def row(number: int | str, value: Any) -> bytes:
        try:
            key = number.encode() if isinstance(number, str) else struct.pack("!q", number)
        except struct.error:
            raise NeardupError(f"an id is an integer of 64 bits or a str, not {number!r}", 1) from None
        if value is None:
            return struct.pack("!hi", 2, len(key)) + key + struct.pack("!i", -1)
        data = as_value(value)
        return struct.pack("!hi", 2, len(key)) + key + struct.pack("!i", len(data)) + data

    rows = itertools.starmap(row, zip(ids, values, strict=True))
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    yield from iter(lambda: b"".join(itertools.islice(rows, _CHUNK)), b"")
    yield b"\xff\xff"


def read_binary(file: BinaryIO) -> Iterator[tuple[bytes | None, ...]]:
    """Yields the rows of a file of COPY ... TO (FORMAT binary) or `neardup sign`, a tuple of the bytes of each column, or
    None for null.  Raises ValueError if it is no such file, or its end is missing."""
    def read(form: str, length: int) -> Any:
        data = file.read(length)
        if len(data) != length:
            raise ValueError("the end of the file is missing")
        return struct.unpack(form, data)[0] if form else data

    if read("", 11) != b"PGCOPY\n\xff\r\n\0":
        raise ValueError("this is no file of COPY BINARY")
    read("!i", 4)
    read("", read("!i", 4))
    while (columns := read("!h", 2)) >= 0:
        lengths = (read("!i", 4) for _ in range(columns))
        yield tuple(None if length < 0 else read("", length) for length in lengths)
