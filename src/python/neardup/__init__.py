"""Near-duplicate texts, with the bits of the PostgreSQL extension neardup.

A value is `bytes` in the binary format of the SQL types minhash, simhash and shingles: what COPY BINARY, and psycopg with
binary results, give and take.  Equal bytes are equal values, and the server makes the same ones of the same text.

    signatures = neardup.minhash(texts, jobs=8)          # a sequence of bytes; numpy.asarray() copies nothing
    neardup.similarity(signatures[0], signatures[1])     # 0.93
    kept = [texts[i] for i in neardup.dedupe(signatures, 0.8)]

Texts are str, or bytes in UTF-8; characters that are not well-formed separate words.  All functions may be called in any
number of threads, which run side by side, and after a fork.  Values and lexicons can be pickled.  What is refused
raises NeardupError, a ValueError.
"""

import ctypes
import itertools
import struct
import weakref
from array import array
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_uint8, c_void_p
from typing import Any, BinaryIO, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._library import DEFAULT, FUNCTION, NEXT, Comparison, ManyValues, NeardupError, Options, Pair, Session, call, free, take

__all__ = ["Clusters", "Comparison", "Lexicon", "NO_KEEPER", "NeardupError", "Pair", "Values", "clusters", "compare",
           "copy_binary", "dedupe", "edit_distance", "from_text", "minhash", "pairs", "read_binary", "shingles",
           "similarity", "simhash", "to_text"]

__version__: str = FUNCTION["version"]().decode()
NO_KEEPER = 0xFFFFFFFF

_MINHASH, _SIMHASH, _SHINGLES, _LEXICON = 1, 2, 3, 4
_CHUNK = 1024

Text = Union[str, bytes]
# Values one by one, an array of uint8 with a row for each, or texts (str), of which minhash() is made.
AnyValues = Union["Values", Iterable[bytes], Iterable[str], Any]
# The value of a text, or values of many; Any, since a checker cannot tell which.
Made = Union[bytes, "Values", Any]


def _utf8(text: Text) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise TypeError(f"a text is str or bytes, not {type(text).__name__}")


# ---- Values ----------------------------------------------------------------


def _value(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"a value is bytes, such as minhash(text), not {type(value).__name__}") from None


def _kind(value: bytes) -> int:
    """Returns the kind of a value.  Of its second byte, a minhash sets bit 3 and a simhash none of bits 0 to 2; that of a
    set is the version of the recipe, 1."""
    if len(value) < 2:
        raise NeardupError("this is no value: its end is missing", 2)
    return _MINHASH if value[1] & 8 else _SHINGLES if value[1] & 7 else _SIMHASH


class Values(Sequence[bytes]):
    """Many values of a kind, one behind the other: a sequence of bytes.

    numpy.asarray(values) is an array of uint8 of shape (number of values, bytes of each) in the same memory; sets have
    different lengths, and no such array."""

    def __init__(self, kind: int, memory: Any, size: int = 0, offsets: Optional["array[int]"] = None) -> None:
        self._kind, self._view, self._size, self._offsets = kind, memoryview(memory).cast("B"), size, offsets
        self._count = len(offsets) - 1 if offsets else len(self._view) // size if size else 0
        block = c_uint8 * len(self._view)
        self._memory = block.from_buffer_copy(self._view) if self._view.readonly else block.from_buffer(self._view)
        offset = ctypes.cast((c_uint64 * len(offsets)).from_buffer(offsets), c_void_p) if offsets else None
        self._as_parameter_ = byref(ManyValues(kind, self._count, ctypes.addressof(self._memory), size, offset))

    def __reduce__(self) -> Any:
        return Values, (self._kind, self._view.tobytes(), self._size, self._offsets)

    @classmethod
    def of(cls, values: AnyValues) -> "Values":
        """Returns values as Values.  An array of uint8 keeps its memory; of texts minhash() is made."""
        if isinstance(values, Values):
            return values
        try:
            view = memoryview(values)
        except TypeError:
            view = memoryview(b"")
        if view.ndim == 2 and view.itemsize == 1 and view.nbytes:
            rows = view if view.c_contiguous else bytearray(view.tobytes())
            return cls(_kind(bytes(view[0, i] for i in range(2))), rows, view.shape[1])
        items = list(values)
        if items and isinstance(items[0], str):
            return minhash(items)
        items = list(map(_value, items))
        offsets = array("Q", itertools.accumulate(map(len, items), initial=0))
        return cls(_kind(items[0]) if items else _MINHASH, bytearray(b"".join(items)), offsets=offsets)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        i = range(self._count)[index]
        start, end = self._offsets[i:i + 2] if self._offsets else (i * self._size, (i + 1) * self._size)
        return self._view[start:end].tobytes()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy
        if self._offsets:
            raise TypeError("values in a list, or of different lengths, are no array")
        rows = numpy.frombuffer(self._view, numpy.uint8).reshape(self._count, self._size)
        return rows.astype(dtype or numpy.uint8, copy=bool(copy))


# ---- Lexicons --------------------------------------------------------------


class Lexicon:
    """The weights of shingles: the more documents have one, the less it weighs.

    Lexicon(value) reads one as text or in binary format (a shingle_lexicon of the server, or a file of `neardup learn`);
    str() and bytes() write it."""

    def __init__(self, value: Union[str, bytes]) -> None:
        data = _utf8(value)
        self._bytes = data if data[:1] == b"\1" else take("parse", _LEXICON, data.rstrip(b"\r\n"))
        str(self)

    @classmethod
    def learn(cls, texts: Iterable[Text], scheme: Optional[str] = None, entries: int = DEFAULT.entries,
              share: float = DEFAULT.share, memory: int = 0) -> "Lexicon":
        """Makes a lexicon of at least two texts, as the SQL function neardup_lexicon() does.

        A shingle that at least this share of the texts (above 0, at most 1) has, and at least 20 of them, weighs nothing.
        Of the others the `entries` (1 to 1,000,000) that most texts have get an entry; one without an entry weighs most.
        scheme None is "word 1".  memory is how many bytes counting may take; 0 is 64 MB."""
        rest, text, failed = map(_utf8, texts), b"", []

        def next_text(state: Any, at: Any, length: Any) -> bool:
            nonlocal text
            try:
                text = at[0] = next(rest)
                length[0] = len(text)
                return True
            except StopIteration:
                return False
            except BaseException as error:
                failed.append(error)
                return False

        # The texts may come from calls of this package, which are made in the session of the thread.
        try:
            return cls(take("learn", None if scheme is None else scheme.encode(), entries, share, memory, NEXT(next_text), None, own=Session()))
        finally:
            if failed:
                raise failed[0]

    def __bytes__(self) -> bytes:
        return self._bytes

    def __str__(self) -> str:
        return take("print", _LEXICON, self._bytes, len(self._bytes)).decode()


# ---- Signing ---------------------------------------------------------------


class _Signer:
    """A kind, a shape, and a scheme or a lexicon."""

    def __init__(self, kind: int, k: int, b: int, scheme: Optional[str], lexicon: Optional[Lexicon]) -> None:
        self.kind, self._as_parameter_ = kind, c_void_p()
        weights = None if lexicon is None else bytes(lexicon)
        call("signer_new", kind, k, b, None if scheme is None else scheme.encode(), weights, len(weights or b""),
             byref(self._as_parameter_))
        weakref.finalize(self, free, "signer_free", self._as_parameter_)
        self.size: int = FUNCTION["signature_size"](self)

    def sign(self, texts: Sequence[Text]) -> bytearray:
        signatures, data = bytearray(self.size * len(texts)), [_utf8(text) for text in texts]
        call("sign_many", self, len(data), (c_char_p * len(data))(*data), (c_size_t * len(data))(*map(len, data)),
             (c_uint8 * len(signatures)).from_buffer(signatures))
        return signatures

    def shingles(self, texts: Sequence[Text]) -> List[bytes]:
        return [take("sign", self, text, len(text)) for text in map(_utf8, texts)]

    def make(self, texts: Any, jobs: int) -> Made:
        if isinstance(texts, (str, bytes)):
            return bytes(self.sign([texts])) if self.size else self.shingles([texts])[0]
        rest = iter(texts)
        chunks = iter(lambda: list(itertools.islice(rest, _CHUNK)), [])
        if jobs <= 1:
            return self._gather(map(self.sign if self.size else self.shingles, chunks))
        with ThreadPoolExecutor(jobs) as pool:
            return self._gather(pool.map(self.sign if self.size else self.shingles, chunks))

    def _gather(self, results: Iterator[Any]) -> Values:
        if not self.size:
            return Values.of(itertools.chain.from_iterable(results))
        signatures = bytearray()
        for result in results:
            signatures += result
        return Values(self.kind, signatures, self.size)


def minhash(texts: Union[Text, Iterable[Text]], *, k: int = DEFAULT.k, b: int = DEFAULT.b, scheme: Optional[str] = None,
            lexicon: Optional[Lexicon] = None, jobs: int = 1) -> Made:
    """Makes the minhash of a text (bytes), or of each of many (Values), as to_minhash(text, k, b, scheme) in SQL.

    k is the number of symbols, 16 to 16,384, of b bits each, 1, 2, 4, 8, 16 or 32; k * b is at most 65,536.  A signature
    has 12 + k * b / 8 bytes, rounded up.  scheme is "word 3" (which None is), "char 5", "anychar 4", "stopword 2" or
    "spot 1 2"; a lexicon brings its own.  jobs is the number of threads.  Raises NeardupError for other shapes and
    schemes, TypeError for what is no text."""
    return _Signer(_MINHASH, k, b, scheme, lexicon).make(texts, jobs)


def simhash(texts: Union[Text, Iterable[Text]], *, k: int = DEFAULT.f, scheme: Optional[str] = None, jobs: int = 1) -> Made:
    """Makes the simhash of a text (bytes), or of each of many (Values), as to_simhash(text, k, scheme) in SQL.

    k is 64, 128, 256 or 512 bits; a signature has 8 + k / 8 bytes.  scheme None is "word 1"; otherwise as minhash()."""
    return _Signer(_SIMHASH, k, 1, scheme, None).make(texts, jobs)


def shingles(texts: Union[Text, Iterable[Text]], *, scheme: Optional[str] = None, lexicon: Optional[Lexicon] = None,
             jobs: int = 1) -> Made:
    """Makes the set of shingles of a text (bytes), or of each of many (Values), as to_shingles(text, scheme) in SQL, or
    with a lexicon weigh(to_shingles(text, scheme), lexicon).  A set has 12 bytes, and 8 or 12 for each shingle."""
    return _Signer(_SHINGLES, 0, 0, scheme, lexicon).make(texts, jobs)


# ---- Two values ------------------------------------------------------------


def compare(x: Any, y: Any) -> Comparison:
    """Compares two values (bytes, or rows of an array of uint8) of one kind, shape and scheme; raises NeardupError (code
    3) for others."""
    result, a, b = Comparison(), _value(x), _value(y)
    call("compare", _kind(a), a, len(a), b, len(b), byref(result))
    return result


def similarity(x: Any, y: Any) -> float:
    """Returns the similarity of two values, from 0 to 1, as similarity(x, y) in SQL; an empty one is similar to none."""
    return compare(x, y).similarity


def edit_distance(x: Text, y: Text) -> int:
    """Counts the insertions, deletions and substitutions of characters that make text y of x."""
    result, a, b = ctypes.c_int64(), _utf8(x), _utf8(y)
    call("edit_distance", a, len(a), b, len(b), byref(result))
    return result.value


def to_text(value: Any) -> str:
    """Returns a value as the server prints it, such as "1/word 1/64/0009a010100958a0"."""
    data = _value(value)
    return take("print", _kind(data), data, len(data)).decode()


def from_text(kind: str, text: str) -> bytes:
    """Returns the value that the server prints so.  kind is "minhash", "simhash" or "shingles"."""
    return take("parse", {"minhash": _MINHASH, "simhash": _SIMHASH, "shingles": _SHINGLES}[kind], text.encode())


# ---- Many values -----------------------------------------------------------


class Clusters(NamedTuple):
    """For each value the number of its keeper, which is its own number if it stays, or NO_KEEPER if it is empty or, with
    `against`, similar to none; and its similarity to the keeper, from 0 to 1.  numpy.asarray() copies neither."""

    keeper: "array[int]"
    similarity: "array[float]"


def pairs(values: AnyValues, threshold: float, *, against: Optional[AnyValues] = None, multiset: bool = False,
          containment: bool = False, jobs: int = 1, memory: int = 0) -> "ctypes.Array[Pair]":
    """Finds all pairs of values of at least this similarity (above 0, at most 1), as neardup_pairs() in SQL.

    Returns an array of Pair (a, b, similarity), in order; numpy.asarray() makes a structured array of it without a copy.
    Of equal values only the first is in pairs, and each other one is paired with it.  With `against`, b is the number of
    one of its values.  Sets are compared by resemblance, or as multisets, or by containment.  memory is about
    how many bytes to take, beyond which temporary files are used, 0 half of the machine's; NeardupError (code 4) if the
    pairs take more."""
    options, start, count = Options(threshold, multiset, containment, False, jobs, memory), c_void_p(), c_size_t()
    call("pairs", Values.of(values), against if against is None else Values.of(against), byref(options), byref(start),
         byref(count))
    try:
        result = (Pair * count.value)()
        ctypes.memmove(result, start, ctypes.sizeof(result))
        return result
    finally:
        free("free", start)


def clusters(values: AnyValues, threshold: float, *, against: Optional[AnyValues] = None, multiset: bool = False,
             containment: bool = False, nearest: bool = False, jobs: int = 1, memory: int = 0) -> Clusters:
    """Finds for each value the first earlier keeper that is similar to it, else itself, as neardup_clusters() in SQL.

    With `nearest`, the most similar keeper.  With `against`, keepers are its values only.  Otherwise as pairs()."""
    mine, options = Values.of(values), Options(threshold, multiset, containment, nearest, jobs, memory)
    result = Clusters(array("I", bytes(4 * len(mine))), array("d", bytes(8 * len(mine))))
    call("clusters", mine, against if against is None else Values.of(against), byref(options),
         result.keeper.buffer_info()[0], result.similarity.buffer_info()[0])
    return result


def dedupe(values: AnyValues, threshold: float, *, against: Optional[AnyValues] = None, **options: Any) -> List[int]:
    """Returns the numbers of the values that stay, in order: the first of each cluster, and empty ones.

    Values that are similar to one of `against`, such as a set for evaluation, go first.  The options are those of
    clusters()."""
    mine = Values.of(values)
    stay: Sequence[int] = range(len(mine))
    if against is not None:
        held = clusters(mine, threshold, against=against, **options).keeper
        stay = [i for i in stay if held[i] == NO_KEEPER]
        mine = Values.of([mine[i] for i in stay])
    keepers = clusters(mine, threshold, **options).keeper
    return [number for i, (number, keeper) in enumerate(zip(stay, keepers)) if keeper in (i, NO_KEEPER)]


# ---- COPY BINARY -----------------------------------------------------------


def copy_binary(ids: Iterable[Union[int, str]], values: Iterable[Any]) -> Iterator[bytes]:
    """Yields what COPY table (id, value) FROM STDIN (FORMAT binary) takes, in blocks.

    ids are int, for a column of type bigint, or str, for one of type text; as many as values.  Values are bytes, or
    the rows of an array of uint8; their column has their SQL type."""
    def row(number: Union[int, str], value: Any) -> bytes:
        key = number.encode() if isinstance(number, str) else struct.pack("!q", number)
        data = _value(value)
        return struct.pack("!hi", 2, len(key)) + key + struct.pack("!i", len(data)) + data

    rows = itertools.starmap(row, zip(ids, values, strict=True))
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    yield from iter(lambda: b"".join(itertools.islice(rows, _CHUNK)), b"")
    yield b"\xff\xff"


def read_binary(file: BinaryIO) -> Iterator[Tuple[Optional[bytes], ...]]:
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
