"""The functions of neardup.h, in a session for each thread."""

import ctypes
import itertools
import operator
import pathlib
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

# A wheel brings the library along; otherwise it is the system's.
_FILE = pathlib.Path(__file__).with_name("libneardup.so.0")
LIBRARY = ctypes.CDLL(str(_FILE) if _FILE.exists() else _FILE.name)

# What each function returns, and takes: p a pointer, s bytes, z a size, i and u a number of 32 bits, d a double.
_FUNCTIONS = dict(line.split() for line in """
    version s: | defaults p: | open p:p | close v:p | message s:p | free v:pp | signature_size z:p | edit_distance i:pszszp
    signer_new i:piiisszp | signer_free v:pp | sign i:ppszp | sign_column i:pppppppp | signer_remember i:ppdzi | mask i:psszp | learn i:psudzppp | common i:psdzpppp | signer_whole z:p | export i:pppp
    parse i:pisp | print i:piszp | compare i:piszszp | pairs i:pppppp | clusters i:pppppp | keepers i:ppppp | blocks i:ppup
    capsules v:p | passages_new i:puzp | passages_free i:pp | passages_words i:pppip | passages_add i:ppp | passages_find i:ppp
    passages_of i:ppzzpp
    """.replace("\n", "|").split("|") if line.strip())
_TYPES = {"v": None, "p": c_void_p, "s": c_char_p, "z": c_size_t, "i": c_int, "u": c_uint32, "d": c_double}


def _function(name: str) -> Any:
    function = getattr(LIBRARY, "neardup_" + name)
    function.restype, *function.argtypes = [_TYPES[letter] for letter in _FUNCTIONS[name].replace(":", "")]
    return function


FUNCTION = {name: _function(name) for name in _FUNCTIONS}
_INTEGERS = {name: [(i, kind) for i, kind in enumerate(function.argtypes[1:]) if kind in (c_int, c_uint32, c_size_t)]
             for name, function in FUNCTION.items()}
# Texts that end in a zero, since no size follows them.
_STRINGS = {name: [i for i, (kind, following) in enumerate(itertools.pairwise([*function.argtypes[1:], None])) if kind is c_char_p and following is not c_size_t]
            for name, function in FUNCTION.items()}


class _Default(ctypes.Structure):
    _fields_ = [("k", c_int), ("b", c_int), ("f", c_int), ("entries", c_uint32), ("share", c_double),
                ("threshold", c_double), ("decided_k", c_int), ("decided_b", c_int)]


DEFAULT: Any = _Default.from_address(FUNCTION["defaults"]())


class NeardupError(ValueError):
    """What the library refuses.  `code` is 1 if an argument is out of its range, 2 if bytes or a text are no value, 3 if
    values differ in shape, scheme or recipe, 4 if something is too large, 5 if there is no memory."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        return NeardupError, (str(self), self.code)


# The most threads, as of the command.
JOBS_MOST = 1024

# Seconds until Ctrl-C is noticed at the latest.
NOTICE = 0.2

# A neardup_next.
NEXT = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(c_char_p), POINTER(c_size_t), POINTER(c_uint64))


class Bytes(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("length", c_size_t)]


class Column(ctypes.Structure):
    """A neardup_column."""


Column._fields_ = [("count", c_size_t), ("first", c_size_t), ("validity", c_void_p), ("entry", c_void_p), ("width", c_int),
                   ("data", c_void_p), ("buffer", c_void_p), ("dictionary", POINTER(Column))]


class Evidence(ctypes.Structure):
    _fields_ = [("signer", c_void_p), ("texts", c_void_p), ("columns", c_size_t), ("read", c_void_p), ("state", c_void_p),
                ("sets", c_void_p), ("digest", c_void_p), ("remembers", c_void_p)]


class ManyValues(ctypes.Structure):
    _fields_ = [("kind", c_int), ("count", c_size_t), ("bytes", c_void_p), ("size", c_size_t), ("offset", c_void_p),
                ("chosen", c_void_p), ("read", c_void_p), ("made", c_void_p), ("state", c_void_p), ("evidence", c_void_p)]


class Options(ctypes.Structure):
    _fields_ = [("threshold", c_double), ("multiset", c_bool), ("containment", c_bool), ("nearest", c_bool),
                ("jobs", c_int), ("memory", c_size_t), ("contained", c_double), ("blocks", c_uint32), ("a", c_uint32), ("b", c_uint32)]


class Compared(ctypes.Structure):
    _fields_ = [("distance", c_int), ("similarity", c_double), ("containment", c_double), ("weighted", c_double)]


class _Host(ctypes.Structure):
    _fields_ = [("resize", c_void_p), ("cancelled", c_void_p), ("state", c_void_p), ("warn", c_void_p)]


def _warn(state: int | None, message: bytes) -> None:
    warnings.warn(message.decode() + "; a lexicon, common or a higher threshold takes less", RuntimeWarning, stacklevel=3)


_WARN = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)(_warn)


class Session:
    """A session of the library, whose calls end early once `stop` is true."""

    def __init__(self, stop: c_bool | None = None) -> None:
        host = _Host(warn=ctypes.cast(_WARN, c_void_p))
        if stop is not None:
            host.cancelled, host.state = ctypes.cast(LIBRARY.neardup_is_set, c_void_p), ctypes.addressof(stop)
        self.stop, self.handle, self._close = stop, FUNCTION["open"](byref(host)), FUNCTION["close"]
        if not self.handle:
            raise MemoryError("no memory for a session of libneardup")

    def __del__(self) -> None:
        self._close(self.handle)


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.session = Session()


OF_THREAD = _Sessions()


# ---- Calls -----------------------------------------------------------------


def integer(value: Any, kind: Any) -> int:
    """Returns an integer that a type of C has."""
    number = operator.index(value)
    if kind(number).value != number:
        raise NeardupError(f"{number} is out of range", 1)
    return number


def threads(jobs: Any) -> int:
    """Returns a number of threads."""
    number = operator.index(jobs)
    if not 1 <= number <= JOBS_MOST:
        raise NeardupError(f"jobs is a number of threads from 1 to {JOBS_MOST}, not {number}", 1)
    return number


def call(name: str, *arguments: Any, own: Session | None = None) -> None:
    """Calls a function in the session of this thread, or in its own; raises what it refuses.  Other threads run meanwhile."""
    session, checked = (own or OF_THREAD.session).handle, list(arguments)
    for i, kind in _INTEGERS[name]:
        checked[i] = integer(arguments[i], kind)
    for i in _STRINGS[name]:
        if 0 in (arguments[i] or b""):
            raise NeardupError(f"{arguments[i].decode()!r:.60} has a character U+0000", 2 if name == "parse" else 1)
    refuse(session, FUNCTION[name](session, *checked))


def refuse(session: Any, code: int) -> None:
    """Raises what a function has refused, if it has."""
    if code:
        raise NeardupError(FUNCTION["message"](session).decode(), code)


def free(name: str, memory: Any) -> None:
    """Frees what a call has returned: `name` is free or signer_free."""
    FUNCTION[name](OF_THREAD.session.handle, memory)


def take(name: str, *arguments: Any, own: Session | None = None) -> bytes:
    """Calls a function that returns bytes to its caller."""
    result = Bytes()
    call(name, *arguments, byref(result), own=own)
    try:
        return ctypes.string_at(result.bytes, result.length)
    finally:
        free("free", result.bytes)


def result_of(future: "Future[_R]") -> _R:
    """Waits for a result.  Ctrl-C may reach another thread first, and Python notices it when this one goes on."""
    while not future.done():
        wait((future,), NOTICE)
    return future.result()


def in_threads(work: Callable[[_T], _R], items: Iterable[_T], jobs: int = 1) -> Iterator[_R]:
    """Yields work(item) of each item, in order.  Threads do the work, on few items ahead; so the main thread, which waits,
    takes Ctrl-C, or any other exception, and ends what they do."""
    if jobs <= 1 and threading.current_thread() is not threading.main_thread():
        yield from map(work, items)
        return
    stop = c_bool(False)
    ahead: deque[Future[_R]] = deque()

    def begin() -> None:
        OF_THREAD.session = Session(stop)

    with ThreadPoolExecutor(max(jobs, 1), initializer=begin) as pool:
        try:
            for item in items:
                if len(ahead) > jobs:
                    yield result_of(ahead.popleft())
                ahead.append(pool.submit(work, item))
            while ahead:
                yield result_of(ahead.popleft())
        except BaseException:
            stop.value = True
            raise


def alone(work: Callable[[], _R]) -> _R:
    """Returns what a long call returns."""
    [result] = in_threads(lambda _: work(), [None])
    return result
