"""What is made of texts: lexicons and values."""

import ctypes
import functools
import itertools
import queue
import threading
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_bool, c_uint64, c_void_p
from typing import Any

from . import _arrow
from ._library import (
    DEFAULT,
    FUNCTION,
    NEXT,
    NOTICE,
    OF_THREAD,
    Bytes,
    Column,
    Evidence,
    Session,
    alone,
    call,
    free,
    in_threads,
    refuse,
    result_of,
    take,
    threads,
)
from ._values import LEXICON, LONG, MINHASH, SHINGLES, SIMHASH, Text, Values, is_null, items_of, utf8

# Texts that are signed in a call.
_CHUNK = 1024

# Bytes in which a signer remembers the shingles of a text, and those of all of them at most.
_REMEMBERED, _REMEMBERED_MOST = 64, 512 << 20

# The value of a text, or values of many; Any, since a checker cannot tell which.
Made = Any
Progress = Callable[[int], Any] | None


class _Given:
    """Texts, each with the number of its source, that are given to a thread, in which a call takes them; this one, which
    reads them, takes Ctrl-C."""

    def __init__(self, work: Callable[[Session, Any], bytes]) -> None:
        self._work, self._stop, self._room = work, c_bool(False), threading.Semaphore(2)
        self._lists: queue.SimpleQueue[list[tuple[bytes, int]]] = queue.SimpleQueue()
        self._list: list[tuple[bytes, int]] = []
        self._ended = False

    def _next(self, state: Any, at: Any, length: Any, source: Any) -> bool:
        if not self._list:
            self._list = self._lists.get()
            self._room.release()
        if not self._list:
            return False
        self._text, source[0] = self._list.pop()
        at[0] = self._text
        length[0] = len(self._text)
        return True

    def _call(self) -> bytes:
        try:
            return self._work(Session(self._stop), NEXT(self._next))
        finally:
            self._ended = True
            self._room.release()

    def all_of(self, texts: Iterator[tuple[bytes, int]]) -> bytes:
        """Gives all texts, and returns what the call returns."""
        with ThreadPoolExecutor(1) as pool:
            try:
                result = pool.submit(self._call)
                while some := list(itertools.islice(texts, _CHUNK)):
                    while not self._room.acquire(timeout=NOTICE):
                        pass
                    if self._ended:
                        break
                    self._lists.put(some[::-1])
                self._lists.put([])
                return result_of(result)
            except BaseException:
                self._stop.value = True
                self._lists.put([])
                raise


def _items(texts: Any) -> Iterator[Any]:
    """Returns the items of a list or a column."""
    source: Any = items_of(texts, "texts")
    return iter(source.to_pylist() if hasattr(source, "to_pylist") else source)


# ---- Lexicons --------------------------------------------------------------


class Lexicon:
    """The weights of shingles: the more documents have one, the less it weighs.

    Lexicon(value) reads one as text or in binary format (a shingle_lexicon of the server, or a file of `neardup learn`);
    str() and bytes() write it."""

    def __init__(self, value: Text) -> None:
        data = utf8(value)
        self._bytes = data if data[:1] == b"\1" else take("parse", LEXICON, data.rstrip(b"\r\n"))
        str(self)

    @classmethod
    def learn(cls, texts: Iterable[Text], scheme: str | None = None, entries: int = DEFAULT.entries,
              share: float = DEFAULT.share, memory: int = 0) -> "Lexicon":
        """Makes a lexicon of at least two texts, as the SQL function neardup_lexicon() does.

        A shingle that at least this share of the texts (above 0, at most 1) has, and at least 20 of them, weighs nothing.
        Of the others the `entries` (1 to 1,000,000) that most texts have get an entry; one without an entry weighs most.
        scheme None is "word 1".  memory is how many bytes counting may take; 0 is 64 MB."""
        items, name = _items(texts), None if scheme is None else scheme.encode()
        given = _Given(lambda session, following: take("learn", name, entries, share, memory, following, None, own=session))
        return cls(given.all_of((utf8(item), 0) for item in items if not is_null(item)))

    @classmethod
    def common(cls, texts: Iterable[Text], share: float, sources: Iterable[Any] | None = None, scheme: str | None = None,
               memory: int = 0) -> "Lexicon":
        """Makes the lexicon of what many texts have: a shingle weighs nothing that at least this share of the distinct texts
        (above 0, at most 1) has, or of those of one source, and at least 20; all others weigh alike.

        `sources` are those of the texts, in their order.  scheme None is "word 3".  memory as that of learn()."""
        numbers: dict[Any, int] = {}
        pairs = zip(_items(texts), itertools.repeat(None) if sources is None else _items(sources))
        name = None if scheme is None else scheme.encode()
        given = _Given(lambda session, following: take("common", name, share, memory, following, None, None, own=session))
        return cls(given.all_of((utf8(item), 0 if is_null(source) else numbers.setdefault(source, len(numbers) + 1))
                                for item, source in pairs if not is_null(item)))

    def __bytes__(self) -> bytes:
        return self._bytes

    def __str__(self) -> str:
        return take("print", LEXICON, self._bytes, len(self._bytes)).decode()


# ---- Texts -----------------------------------------------------------------


def _column_of(items: list[Any]) -> Column:
    """Returns a list of texts, with None for nulls, as a neardup_column."""
    data: list[Any] = [item.encode() if type(item) is str else None if is_null(item) else utf8(item) for item in items]
    column = Column(len(data), width=8)
    if None in data:
        bits = int("".join("0" if text is None else "1" for text in reversed(data)), 2)
        column.validity_memory = _arrow.memory_of(bits.to_bytes(len(data) // 8 + 1, "little"))
        column.validity = ctypes.addressof(column.validity_memory)
        data = [text or b"" for text in data]
    column.entry_memory = _arrow.memory_of(array("q", itertools.accumulate(map(len, data), initial=0)))
    column.text = b"".join(data)
    column.entry, column.data = ctypes.addressof(column.entry_memory), ctypes.cast(column.text, c_void_p)
    return column


def columns_of(texts: Any) -> Iterator[Column]:
    """Yields columns of at most _CHUNK texts; none is read before it is needed."""
    if _arrow.has_interface(texts):
        for chunk in _arrow.chunks_of(texts):
            whole = _arrow.texts_of(chunk)
            for i in range(0, whole.count, _CHUNK):
                part = Column.from_buffer_copy(whole)
                part.first, part.count, part.owner = whole.first + i, min(_CHUNK, whole.count - i), (whole, chunk)
                yield part
        return
    rest, items = iter(items_of(texts, "texts")), [None] * _CHUNK
    while len(items) == _CHUNK:
        items = list(itertools.islice(rest, _CHUNK))
        if items:
            yield _column_of(items)


# ---- Signing ---------------------------------------------------------------


class _Signer:
    """A kind, a shape, and a scheme or a lexicon."""

    def __init__(self, kind: int, k: int, b: int, scheme: str | None, lexicon: Lexicon | None) -> None:
        self.kind, self._as_parameter_ = kind, c_void_p()
        weights = None if lexicon is None else bytes(lexicon)
        call("signer_new", kind, k, b, None if scheme is None else scheme.encode(), weights, len(weights or b""),
             byref(self._as_parameter_))
        weakref.finalize(self, free, "signer_free", self._as_parameter_)
        self.size: int = FUNCTION["signature_size"](self)

    def sign(self, text: bytes) -> bytes:
        """Makes the value of a text, in as few calls as there can be."""
        session, value = OF_THREAD.session.handle, Bytes()
        refuse(session, _SIGN(session, self._as_parameter_, text, len(text), byref(value)))
        result = ctypes.string_at(value.bytes, value.length)
        _FREE(session, value.bytes)
        return result

    def sign_column(self, column: Column, digests: Any = None) -> Values:
        nulls, signatures, sets = bytearray(column.count), bytearray(self.size * column.count), Bytes()
        offsets = array("Q", bytes(0 if self.size else 8 * (column.count + 1)))
        call("sign_column", self, byref(column), _arrow.memory_of(nulls), _arrow.memory_of(signatures), byref(sets),
             _arrow.memory_of(offsets), digests)
        if self.size:
            return Values(self.kind, signatures, self.size, None, nulls)
        try:
            return Values(self.kind, ctypes.string_at(sets.bytes, sets.length), 0, offsets, nulls)
        finally:
            free("free", sets.bytes)

    def make(self, texts: Any, jobs: int, progress: Progress = None) -> Made:
        if isinstance(texts, (str, bytes)):
            text = utf8(texts)
            return self.sign(text) if len(text) < LONG else alone(lambda: self.sign(text))
        columns, jobs = columns_of(texts), threads(jobs)
        few = jobs <= 1 and not _arrow.has_interface(texts)
        made = map(self._sign_few, columns) if few else in_threads(self.sign_column, columns, jobs)
        return Values.joined(self.kind, self.size, made, progress)

    def make_decided(self, texts: Any, by: "_Signer", threshold: float | None, jobs: int, progress: Progress = None) -> Values:
        """Makes the minhash of texts whose shingles decide which are similar.  With a threshold, that of one like none before has
        a zero as first byte until a call makes it."""
        columns = list(columns_of(texts))
        places = list(itertools.accumulate((column.count for column in columns), initial=0))
        digests = (c_uint64 * places[-1])()
        if threshold is not None:
            call("signer_remember", self, threshold, min(_REMEMBERED * places[-1], _REMEMBERED_MOST), True)
        made = in_threads(lambda i: self.sign_column(columns[i], byref(digests, 8 * places[i])), range(len(columns)), threads(jobs))
        values = Values.joined(self.kind, self.size, made, progress)
        together = (Column * len(columns))(*columns)
        evidence = Evidence(by._as_parameter_.value, ctypes.addressof(together), len(columns), digest=ctypes.addressof(digests),
                            remembers=None if threshold is None else self._as_parameter_.value)
        return values.with_evidence(evidence, self, by, columns, together, digests)

    def _sign_few(self, column: Column) -> Values:
        """Signs texts in this thread, unless they take long."""
        return self.sign_column(column) if len(column.text) < LONG else alone(lambda: self.sign_column(column))


_SIGN, _FREE = FUNCTION["sign"], FUNCTION["free"]


@functools.lru_cache(8, typed=True)
def signer(kind: int, k: int, b: int, scheme: str | None, lexicon: Lexicon | None) -> _Signer:
    """Returns a signer, one of the last few if it is the same."""
    return _Signer(kind, k, b, scheme, lexicon)


def minhash(texts: Text | Iterable[Text], *, k: int = DEFAULT.k, b: int = DEFAULT.b, scheme: str | None = None,
            lexicon: Lexicon | None = None, jobs: int = 1, progress: Progress = None) -> Made:
    """Makes the minhash of a text (bytes), or of each of many (Values), as to_minhash(text, k, b, scheme) in SQL.

    Texts come from an iterable, or from a column in Arrow's PyCapsule interface (pyarrow, Polars, pandas, daft); a null
    stays null.  k is the number of symbols, 16 to 16,384, of b bits each, 1, 2, 4, 8, 16 or 32; k * b is at most 65,536.
    A signature has 12 + k * b / 8 bytes, rounded up.  scheme is "word 3" (which None is), "char 5", "anychar 4",
    "stopword 2" or "spot 1 2"; a lexicon brings its own.  jobs is the number of threads.  progress, such as the update of
    a tqdm, is told how many more texts are signed.  Raises NeardupError for other shapes and schemes, TypeError for what is
    no text."""
    return signer(MINHASH, k, b, scheme, lexicon).make(texts, jobs, progress)


def minhash_decided(texts: Any, k: int, b: int, scheme: str | None, lexicon: Lexicon | None, threshold: float | None, jobs: int,
                    progress: Progress) -> Values:
    """Makes the minhash of each of many texts, whose shingles decide which are similar."""
    return _Signer(MINHASH, k, b, scheme, lexicon).make_decided(texts, signer(SHINGLES, 0, 0, scheme, lexicon), threshold, jobs, progress)


def simhash(texts: Text | Iterable[Text], *, k: int = DEFAULT.f, scheme: str | None = None, jobs: int = 1,
            progress: Progress = None) -> Made:
    """Makes the simhash of a text (bytes), or of each of many (Values), as to_simhash(text, k, scheme) in SQL.

    k is 64, 128, 256 or 512 bits; a signature has 8 + k / 8 bytes.  scheme None is "word 1"; otherwise as minhash()."""
    return signer(SIMHASH, k, 1, scheme, None).make(texts, jobs, progress)


def shingles(texts: Text | Iterable[Text], *, scheme: str | None = None, lexicon: Lexicon | None = None,
             jobs: int = 1, progress: Progress = None) -> Made:
    """Makes the set of shingles of a text (bytes), or of each of many (Values), as to_shingles(text, scheme) in SQL, or
    with a lexicon weigh(to_shingles(text, scheme), lexicon).  A set has 12 bytes, and 8 or 12 for each shingle.
    Otherwise as minhash()."""
    return signer(SHINGLES, 0, 0, scheme, lexicon).make(texts, jobs, progress)
