"""Passages of many texts that stood before, and the texts without them."""

import ctypes
import itertools
import weakref
from collections.abc import Iterator
from ctypes import POINTER, byref, c_bool, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple

from ._library import Bytes, NeardupError, alone, call, free, in_threads, threads
from ._signing import columns_of

# Records whose passages are asked for at once.
_CHUNK = 4096


class Passage(NamedTuple):
    """Words text[start:end] of a record that stood before in the record `first`; records are numbered from 0, each side for itself."""

    record: int
    start: int
    end: int
    first: int
    first_start: int
    first_end: int


class Cut(NamedTuple):
    """What goes from a record: pieces of its text, with whether a blank has to stand there; how many words it keeps; its passages."""

    record: int
    pieces: list[tuple[int, int, bool]]
    left: int
    passages: list[Passage]

    def of(self, text: Any) -> Any:
        """Returns the text, str or bytes of UTF-8, without the passages."""
        if isinstance(text, bytes):
            return self.of(text.decode(errors="replace")).encode()
        made, at = [], 0
        for start, end, blank in self.pieces:
            made += [text[at:start], " " if blank else ""]
            at = end
        return "".join([*made, text[at:]])


class _Found(ctypes.Structure):
    """A neardup_passage."""

    _fields_ = [("record", c_uint64), ("words", c_uint64), ("left", c_uint64), ("start", c_uint32), ("end", c_uint32), ("cut_start", c_uint32), ("cut_end", c_uint32),
                ("blank", c_bool), ("first", c_uint64), ("first_start", c_uint32), ("first_end", c_uint32)]


class _Passages:
    def __init__(self, run: int, memory: int) -> None:
        self._as_parameter_ = c_void_p()
        call("passages_new", run, memory, byref(self._as_parameter_))
        weakref.finalize(self, free, "passages_free", self._as_parameter_)

    def add(self, texts: Any, jobs: int) -> int:
        """Adds texts, each of which is a record; returns how many."""
        def words_of(column: Any) -> tuple[int, Any]:
            words = Bytes()
            call("passages_words", self, byref(column), 0, byref(words))
            return column.count, words

        count = 0
        for some, words in in_threads(words_of, columns_of(texts), jobs):
            call("passages_add", self, byref(words))
            free("free", words.bytes)
            count += some
        return count

    def of(self, first: int, count: int) -> list[Any]:
        found, number = POINTER(_Found)(), c_size_t()
        call("passages_of", self, first, count, byref(found), byref(number))
        copies = [_Found.from_buffer_copy(found[i]) for i in range(number.value)]
        free("free", ctypes.cast(found, c_void_p))
        return copies


def check_arguments(min_run: int, min_left: int) -> None:
    if min_run > 0 and not 1 <= min_left <= min_run:
        raise NeardupError(f"min_left is from 1 to min_run, not {min_left}: else first copies could go", 1)


def cuts_of(texts: Any, against: Any, min_run: int, jobs: int, memory: int) -> tuple[int, Iterator[Cut]]:
    """Returns how many texts there are, and what goes of each that loses words, in order: what stood before, or in `against`, if that is not None."""
    passages = _Passages(min_run, memory)
    others = 0 if against is None else passages.add(against, threads(jobs))
    count = passages.add(texts, threads(jobs))
    alone(lambda: call("passages_find", passages, None if against is None else byref(c_uint64(others))))
    return count, _cuts(passages, others, count)


def _cuts(passages: _Passages, others: int, count: int) -> Iterator[Cut]:
    found = itertools.chain.from_iterable(passages.of(others + i, min(_CHUNK, count - i)) for i in range(0, count, _CHUNK))
    for number, some in itertools.groupby(found, lambda one: one.record):
        rows = list(some)
        yield Cut(number - others, [(row.cut_start, row.cut_end, row.blank) for row in rows if row.cut_start < row.cut_end], rows[-1].left,
                  [Passage(number - others, row.start, row.end, row.first - (others if row.first >= others else 0), row.first_start, row.first_end) for row in rows])
