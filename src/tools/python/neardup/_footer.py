"""The end of a Parquet file, which says what its columns are.

Readers turn what a file stores into types of their own, and write others.  So rows are carried as what is stored: plain()
leaves out of a footer what the values mean, and restored() puts it into that of the file that is written."""

import io
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

# A structure of Thrift's compact protocol: the type and the value of each field.  A list is the type of its items, and they.
Structure = dict[int, tuple[int, Any]]

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCTURE = (*range(1, 11), 12)

# Fields of FileMetaData, of RowGroup, ColumnChunk and ColumnMetaData, and of SchemaElement.
_SCHEMA, _ROW_GROUPS, _METADATA = 2, 4, 5
_CHUNKS, _OF_CHUNK, _STORED, _PATH = 1, 3, 1, 3
_TYPE, _LENGTH, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _SCALE, _PRECISION, _LOGICAL = *range(1, 9), 10

# Values of Type, and fields of LogicalType: MAP, LIST, DECIMAL, INTEGER.
_INT32, _INT64, _INT96, _FIXED = 1, 2, 3, 7
_STRUCTURAL, _DECIMAL, _INTEGER = (2, 3), 5, 10

# What values of ConvertedType and fields of LogicalType have the order of what is stored.
_ORDERED_CONVERTED, _ORDERED_LOGICAL = (None, 0, 4, 6, 7, 8, 9, 10, 15, 16, 17, 18, 19, 20), (None, 1, 4, 6, 7, 8, 12, 13, 14)


# ---- Thrift ----------------------------------------------------------------


def _bytes(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise EOFError
    return data


def _read_number(file: BinaryIO) -> int:
    number = shift = 0
    while (byte := _bytes(file, 1)[0]) > 127:
        number |= (byte & 127) << shift
        shift += 7
    return number | byte << shift


def _read(file: BinaryIO, kind: int) -> Any:
    if kind == _STRUCTURE:
        return _read_structure(file)
    if kind in (_I16, _I32, _I64):
        number = _read_number(file)
        return number >> 1 ^ -(number & 1)
    if kind in (_LIST, _SET):
        head = _bytes(file, 1)[0]
        count = head >> 4 if head < 0xF0 else _read_number(file)
        return head & 15, [_read(file, head & 15) for _ in range(count)]
    if kind in (_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY):
        return _bytes(file, _read_number(file) if kind == _BINARY else 8 if kind == _DOUBLE else 1)
    raise ValueError(f"its footer has a field of type {kind}, which none of Parquet's has")


def _read_structure(file: BinaryIO) -> Structure:
    fields: Structure = {}
    number = 0
    while head := _bytes(file, 1)[0]:
        number = number + (head >> 4) if head >> 4 else _read(file, _I16)
        kind = head & 15
        fields[number] = kind, None if kind in (_TRUE, _FALSE) else _read(file, kind)
    return fields


def _number(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def _write(kind: int, value: Any) -> bytes:
    if kind == _STRUCTURE:
        return _write_structure(value)
    if kind in (_I16, _I32, _I64):
        return _number(value << 1 if value >= 0 else ~value << 1 | 1)
    if kind in (_LIST, _SET):
        item, items = value
        head = bytes([len(items) << 4 | item]) if len(items) < 15 else bytes([0xF0 | item]) + _number(len(items))
        return head + b"".join(_write(item, each) for each in items)
    return _number(len(value)) + value if kind == _BINARY else bytes(value)


def _write_structure(fields: Structure) -> bytes:
    made, last = [], 0
    for number, (kind, value) in sorted(fields.items()):
        made.append(bytes([number - last << 4 | kind]) if number - last < 16 else bytes([kind]) + _write(_I16, number))
        if kind not in (_TRUE, _FALSE):
            made.append(_write(kind, value))
        last = number
    return b"".join([*made, b"\0"])


# ---- Footers ---------------------------------------------------------------


def read_footer(file: BinaryIO) -> Structure:
    """Returns the footer of a file."""
    try:
        file.seek(-8, io.SEEK_END)
        length, magic = struct.unpack("<I4s", _bytes(file, 8))
        file.seek(-8 - length, io.SEEK_END)
        fields = _read_structure(io.BytesIO(_bytes(file, length)))
        # What follows reads it too.
        list(_chunks(fields)), [leaf.is_ordered() for leaf in leaves_of(fields)], plain(fields)
    except (ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError, StopIteration, TypeError, struct.error):
        raise ValueError("its end is missing or broken") from None
    if magic != b"PAR1":
        raise ValueError("its end is encrypted")
    return fields


def end_of(footer: Structure) -> bytes:
    """Returns the end of a file that has a footer."""
    data = _write_structure(footer)
    return data + struct.pack("<I4s", len(data), b"PAR1")


def _value(fields: Structure, field: int) -> Any:
    return fields.get(field, (0, None))[1]


def _chunks(footer: Structure) -> Iterator[list[Structure]]:
    """Yields what a footer says of the columns of each row group."""
    for group in footer[_ROW_GROUPS][1][1]:
        yield [chunk[_OF_CHUNK][1] for chunk in group[_CHUNKS][1][1]]


class Leaf:
    """A column of values: the path to it, what is stored, and which steps to it may be null or repeated."""

    def __init__(self, path: list[bytes], element: Structure, steps: list[int]) -> None:
        self.path, self.kind, self._element = path, _value(element, _TYPE), element
        self.stored = self.kind, _value(element, _LENGTH) if self.kind == _FIXED else None, steps

    def __str__(self) -> str:
        return b".".join(self.path).decode(errors="replace")

    def is_ordered(self) -> bool:
        """Returns whether the order of its values is that of what is stored: otherwise the least and the greatest of that
        are not the column's."""
        converted, logical = _value(self._element, _CONVERTED), _value(self._element, _LOGICAL) or {None: (0, {})}
        [(kind, (_, more))] = logical.items()
        if self.kind in (_INT32, _INT64) and (kind == _DECIMAL or kind is None and converted == _DECIMAL):
            return True
        is_signed = kind == _INTEGER and more.get(2, (_FALSE,))[0] == _TRUE
        return self.kind != _INT96 and converted in _ORDERED_CONVERTED and (kind in _ORDERED_LOGICAL or is_signed)


def leaves_of(footer: Structure) -> list[Leaf]:
    """Returns the columns of values, in order."""
    elements, found = iter(footer[_SCHEMA][1][1]), []

    def walk(path: list[bytes], steps: list[int]) -> None:
        element = next(elements)
        path, steps = [*path, _value(element, _NAME)], [*steps, *filter(None, [_value(element, _REPETITION)])]
        if _value(element, _TYPE) is not None:
            found.append(Leaf(path, element, steps))
        for _ in range(_value(element, _CHILDREN) or 0):
            walk(path, steps)

    for _ in range(_value(next(elements), _CHILDREN) or 0):
        walk([], [])
    return found


def _plain_element(element: Structure) -> Structure:
    """Returns what is stored in a column, or how a group is nested."""
    if _TYPE not in element:
        structural = {*(_value(element, _LOGICAL) or _STRUCTURAL)} <= {*_STRUCTURAL}
        return element if structural else {field: value for field, value in element.items() if field != _LOGICAL}
    plain = {field: value for field, value in element.items() if field not in (_CONVERTED, _SCALE, _PRECISION, _LOGICAL)}
    # A timestamp of 96 bits has no type in Arrow.
    return {**plain, _TYPE: (_I32, _FIXED), _LENGTH: (_I32, 12)} if _value(element, _TYPE) == _INT96 else plain


def plain(footer: Structure) -> Structure:
    """Returns a footer of the same bytes that says only what is stored."""
    item, elements = footer[_SCHEMA][1]
    made = {field: value for field, value in footer.items() if field != _METADATA}
    return {**made, _SCHEMA: (_LIST, (item, list(map(_plain_element, elements))))}


def restored(made: Structure, footer: Structure) -> Structure:
    """Returns the footer of a file that was written as plain() says, with what the footer of the other says of columns."""
    result = {**made, _SCHEMA: footer[_SCHEMA]}
    result.pop(_METADATA, None)
    if _METADATA in footer:
        result[_METADATA] = footer[_METADATA]
    leaves = leaves_of(footer)
    for chunks in _chunks(result):
        for chunk, leaf in zip(chunks, leaves, strict=True):
            chunk[_STORED], chunk[_PATH] = (_I32, leaf.kind), (_LIST, (_BINARY, leaf.path))
    return result
