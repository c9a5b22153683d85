"""Values, one by one or many, and what two of them have in common."""

import ctypes
import itertools
import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from ctypes import byref, c_int64, c_uint64, c_void_p
from typing import Any, NamedTuple

from . import _arrow
from ._library import Compared, Evidence, ManyValues, NeardupError, alone, call, take

MINHASH, SIMHASH, SHINGLES, LEXICON = 1, 2, 3, 4
_KINDS = {"minhash": MINHASH, "simhash": SIMHASH, "shingles": SHINGLES}

# A value of the empty text.
_EMPTY = b"\1\1" + bytes(10)

# Texts whose signing takes long have more bytes together.
LONG = 1 << 22

Text = str | bytes


def utf8(text: Any) -> bytes:
    """Returns a text in UTF-8."""
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise TypeError(f"a text is str or bytes, not {type(text).__name__}")


def is_null(item: Any) -> bool:
    """Returns whether an item is None, or what pandas has in its place."""
    return item is None or isinstance(item, float) and math.isnan(item) or type(item).__name__ == "NAType"


def first_of(items: Iterable[Any]) -> Any:
    """Returns the first item that is not null; None if there is none."""
    return next((item for item in items if not is_null(item)), None)


def names_of(table: Any) -> list[Any] | None:
    """Returns the names of the columns of a table; None if it is none."""
    for owner, names in (table, "column_names"), (table, "columns"), (getattr(table, "schema", None), "names"):
        found = getattr(owner, names, None)
        if found is not None and not callable(found):
            return list(found)
    return None


def items_of(items: Any, what: str) -> Any:
    """Returns items that are neither the characters of a text nor the names of columns."""
    if isinstance(items, (str, bytes)) or hasattr(items, "__fspath__") or not (hasattr(items, "__iter__") or hasattr(items, "__getitem__")):
        raise TypeError(f"{what} are in a list or a column, not in {type(items).__name__}")
    if isinstance(items, dict) or names_of(items) is not None:
        raise TypeError(f"{what} are in a column: name one of {type(items).__name__}, such as table[{next(iter(names_of(items) or items), 'text')!r}]")
    return items


# ---- Many values -----------------------------------------------------------


def kind_of(value: bytes) -> int:
    """Returns the kind of a value.  Of its second byte, a minhash sets bit 3 and a simhash none of bits 0 to 2; that of a
    set is the version of the recipe, 1."""
    if len(value) < 2:
        raise NeardupError("this is no value: its end is missing", 2)
    return MINHASH if value[1] & 8 else SHINGLES if value[1] & 7 else SIMHASH


def _empty_as(value: bytes) -> bytes:
    """Returns the value of the empty text, made as another value."""
    if kind_of(value) == SHINGLES:
        return value[:2] + bytes(2) + value[4:8] + bytes(4)
    return value[:1] + bytes([value[1] | 16]) + value[2:8] + bytes(len(value) - 8)


def as_value(value: Any) -> bytes:
    """Returns a value as bytes."""
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"a value is bytes, such as minhash(text), not {type(value).__name__}") from None


def _signed(texts: Any) -> "Values":
    from ._signing import minhash
    signatures: Values = minhash(texts)
    return signatures


class Values(Sequence[Any]):
    """Many values of a kind, one behind the other: a sequence of bytes, with None for a null.

    numpy.asarray(values) is an array of uint8 of shape (number of values, bytes of each) in the same memory, where a null
    is the value of the empty text; sets have different lengths, and no such array.  pyarrow.array(values), or what else
    reads Arrow's PyCapsule interface, makes a column of fixed_size_binary, or of large_binary for sets."""

    def __init__(self, kind: int, memory: Any, size: int = 0, offsets: "array[int] | None" = None,
                 nulls: bytearray | None = None, owner: Any = None) -> None:
        self._kind, self._view, self._size, self._offsets, self._nulls = kind, memoryview(memory).cast("B"), size, offsets, nulls
        self._count = len(offsets) - 1 if offsets else len(self._view) // size if size else 0
        self._owner, self._memory = owner, _arrow.memory_of(self._view)
        offset = ctypes.cast((c_uint64 * len(offsets)).from_buffer(offsets), c_void_p) if offsets else None
        self.many = ManyValues(kind, self._count, ctypes.addressof(self._memory), size, offset)
        self._as_parameter_ = byref(self.many)

    def __reduce__(self) -> Any:
        if self.many.evidence:
            raise TypeError("values and the sets that decide on them are pickled apart")
        return Values, (self._kind, self._view.tobytes(), self._size, self._offsets, self._nulls)

    @classmethod
    def of(cls, values: Any) -> "Values":
        """Returns values as Values: bytes, with None for nulls, an array of uint8 with a row for each, which keeps its
        memory, or a column of Arrow.  Of texts (str) minhash() is made."""
        if isinstance(values, Values):
            return values
        if _arrow.has_interface(values) and names_of(values) is None:
            return _signed(values) if _arrow.has_texts(values) else cls._of_arrow(values)
        try:
            view = memoryview(values)
        except TypeError:
            view = memoryview(b"")
        if view.ndim == 2 and view.itemsize == 1 and view.nbytes:
            rows = view if view.c_contiguous else bytearray(view.tobytes())
            return cls(kind_of(bytes(view[0, i] for i in range(2))), rows, view.nbytes // len(view))
        items = list(items_of(values, "texts or values"))
        if isinstance(first_of(items), str):
            return _signed(items)
        return cls._of_list([None if is_null(value) else as_value(value) for value in items])

    @classmethod
    def _of_list(cls, items: list[bytes | None]) -> "Values":
        nulls = bytearray(item is None for item in items)
        first = first_of(items) or _EMPTY
        full = [_empty_as(first) if item is None else item for item in items]
        lengths, kind = list(map(len, full)), kind_of(first)
        same = kind != SHINGLES and len(set(lengths)) == 1
        offsets = None if same else array("Q", itertools.accumulate(lengths, initial=0))
        return cls(kind, bytearray(b"".join(full)), lengths[0] if same else 0, offsets, nulls if 1 in nulls else None)

    @classmethod
    def _of_arrow(cls, column: Any) -> "Values":
        chunks = list(_arrow.chunks_of(column))
        rows = _arrow.rows_of(chunks[0]) if len(chunks) == 1 else None
        if rows:
            return cls(kind_of(bytes(rows[0][:2])), *rows, owner=chunks)
        return cls._of_list([item for chunk in chunks for item in _arrow.bytes_of(chunk)])

    def decided_by(self, sets: Any) -> "Values":
        """Returns the same minhashes, of which the sets of shingles, one for each, decide which are similar."""
        other = Values.of(sets)
        if len(other) != len(self):
            raise ValueError(f"{len(other)} sets cannot decide on {len(self)} values")
        return self.with_evidence(Evidence(sets=ctypes.addressof(other.many)), other)

    def with_evidence(self, evidence: Evidence, *owners: Any) -> "Values":
        result = Values(self._kind, self._view, self._size, self._offsets, self._nulls, (self._owner, evidence, owners))
        result.many.evidence = ctypes.addressof(evidence)
        return result

    def chosen(self, numbers: "array[int]") -> Any:
        """Returns a parameter that is some of the values."""
        offset = self._offsets.buffer_info()[0] if self._offsets else None
        some = ManyValues(self._kind, len(numbers), ctypes.addressof(self._memory), self._size, offset, numbers.buffer_info()[0])
        some.owners, some.evidence = (self, numbers), self.many.evidence
        return byref(some)

    @classmethod
    def joined(cls, kind: int, size: int, parts: "Iterable[Values]", progress: Callable[[int], Any] | None = None) -> "Values":
        """Returns the values of many parts, one behind the other."""
        data, nulls, offsets = bytearray(), bytearray(), array("Q", [0])
        for part in parts:
            if part._offsets:
                offsets.extend(offset + len(data) for offset in part._offsets[1:])
            data += part._view
            nulls += part._nulls or bytes(len(part))
            if progress is not None:
                progress(len(part))
        return cls(kind, data, size, None if size else offsets, nulls if 1 in nulls else None)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        i = range(self._count)[index]
        if self._nulls and self._nulls[i]:
            return None
        start, end = self._offsets[i:i + 2] if self._offsets else (i * self._size, (i + 1) * self._size)
        return self._view[start:end].tobytes()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy
        if self._offsets:
            raise TypeError("values of different lengths are no array")
        rows = numpy.frombuffer(self._view, numpy.uint8).reshape(self._count, self._size)
        return rows.astype(dtype or numpy.uint8, copy=bool(copy))

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        if self._offsets:
            return _arrow.export("Z", self._count, [self._offsets, self._view], self._nulls)
        return _arrow.export(f"w:{self._size}", self._count, [self._view], self._nulls)


# ---- Two values ------------------------------------------------------------


class Comparison(NamedTuple):
    """What two values have in common: `distance`, the symbols that differ (of signatures); from 0 to 1 `similarity` (of
    signatures, or of sets their resemblance), `containment` (of the first set in the second) and `weighted` (the
    resemblance of multisets).  What does not apply is 0."""

    distance: int
    similarity: float
    containment: float
    weighted: float


def compare(x: Any, y: Any) -> Comparison:
    """Compares two values (bytes, or rows of an array of uint8) of one kind, shape and scheme; raises NeardupError (code
    3) for others."""
    result, a, b = Compared(), as_value(x), as_value(y)
    call("compare", kind_of(a), a, len(a), b, len(b), byref(result))
    return Comparison(result.distance, result.similarity, result.containment, result.weighted)


def similarity(x: Any, y: Any) -> float:
    """Returns the similarity of two values, from 0 to 1, as similarity(x, y) in SQL; an empty one is similar to none."""
    return compare(x, y).similarity


def edit_distance(x: Text, y: Text) -> int:
    """Counts the insertions, deletions and substitutions of characters that make text y of x."""
    def count() -> int:
        result = c_int64()
        call("edit_distance", a, len(a), b, len(b), byref(result))
        return result.value

    a, b = utf8(x), utf8(y)
    return count() if len(a) * len(b) < LONG << 8 else alone(count)


def mask_changing(text: Text, what: str) -> str:
    """Returns a text with a blank in place of what changes by itself, as the SQL function mask_changing() does.

    what is one or more of url, email, uuid, ip, date, hex, number and digits (words with digits), such as "date, hex"."""
    data = utf8(text)

    def mask() -> bytes:
        return take("mask", what.encode(), data, len(data))
    return (mask() if len(data) < LONG else alone(mask)).decode(errors="replace")


def to_text(value: Any) -> str:
    """Returns a value as the server prints it, such as "1/word 1/64/0009a010100958a0"."""
    data = as_value(value)
    return take("print", kind_of(data), data, len(data)).decode()


def from_text(kind: str, text: str) -> bytes:
    """Returns the value that the server prints so.  kind is "minhash", "simhash" or "shingles"."""
    if kind not in _KINDS:
        raise NeardupError(f"there is no kind {kind!r} of values: the kinds are {', '.join(_KINDS)}", 1)
    return take("parse", _KINDS[kind], text.encode())
