"""The functions of neardup.h, in a session for each thread."""

import ctypes
import pathlib
import threading
from ctypes import byref, c_bool, c_double, c_int, c_size_t, c_uint32, c_void_p
from typing import Any

# A wheel brings the library along; otherwise it is the system's.
_FILE = pathlib.Path(__file__).with_name("libneardup.so.0")
_LIBRARY = ctypes.CDLL(str(_FILE) if _FILE.exists() else _FILE.name)

# What each function returns, and takes: p a pointer, s bytes, z a size, i and u a number of 32 bits, d a double.
_FUNCTIONS = dict(line.split() for line in """
    version s: | defaults p: | open p:p | close v:p | message s:p | free v:pp | signature_size z:p | edit_distance i:pszszp
    signer_new i:piiisszp | signer_free v:pp | sign i:ppszp | sign_many i:ppzppp | learn i:psudzppp
    parse i:pisp | print i:piszp | compare i:piszszp | pairs i:pppppp | clusters i:pppppp
    """.replace("\n", "|").split("|") if line.strip())
_TYPES = {"v": None, "p": c_void_p, "s": ctypes.c_char_p, "z": c_size_t, "i": c_int, "u": c_uint32, "d": c_double}


def _function(name: str) -> Any:
    function = getattr(_LIBRARY, "neardup_" + name)
    function.restype, *function.argtypes = [_TYPES[letter] for letter in _FUNCTIONS[name].replace(":", "")]
    return function


FUNCTION = {name: _function(name) for name in _FUNCTIONS}


class _Default(ctypes.Structure):
    _fields_ = [("k", c_int), ("b", c_int), ("f", c_int), ("entries", c_uint32), ("share", c_double),
                ("threshold", c_double)]


DEFAULT = _Default.from_address(FUNCTION["defaults"]())


class NeardupError(ValueError):
    """What the library refuses.  `code` is 1 if an argument is out of its range, 2 if bytes or a text are no value, 3 if
    values differ in shape, scheme or recipe, 4 if something is too large, 5 if there is no memory."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        return NeardupError, (str(self), self.code)


# A neardup_next.
NEXT = ctypes.CFUNCTYPE(c_bool, c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(c_size_t))


class Bytes(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("length", c_size_t)]


class ManyValues(ctypes.Structure):
    _fields_ = [("kind", c_int), ("count", c_size_t), ("bytes", c_void_p), ("size", c_size_t), ("offset", c_void_p),
                ("chosen", c_void_p), ("read", c_void_p), ("state", c_void_p)]


class Options(ctypes.Structure):
    _fields_ = [("threshold", c_double), ("multiset", c_bool), ("containment", c_bool), ("nearest", c_bool),
                ("jobs", c_int), ("memory", c_size_t)]


class Comparison(ctypes.Structure):
    """What two values have in common: `distance`, the symbols that differ (of signatures); from 0 to 1 `similarity` (of
    signatures, or of sets their resemblance), `containment` (of the first set in the second) and `weighted` (the
    resemblance of multisets).  What does not apply is 0."""

    _fields_ = [("distance", c_int), ("similarity", c_double), ("containment", c_double), ("weighted", c_double)]


class Pair(ctypes.Structure):
    """Two similar values: their numbers `a` and `b`, from 0, and their `similarity`, from 0 to 1."""

    _fields_ = [("a", c_uint32), ("b", c_uint32), ("similarity", c_double)]

    def __iter__(self) -> Any:
        return iter((self.a, self.b, self.similarity))

    def __repr__(self) -> str:
        return f"Pair(a={self.a}, b={self.b}, similarity={self.similarity})"


class Session:
    """A session of the library, which ends with its thread."""

    def __init__(self) -> None:
        self.handle, self._close = FUNCTION["open"](None), FUNCTION["close"]
        if not self.handle:
            raise MemoryError("no memory for a session of libneardup")

    def __del__(self) -> None:
        self._close(self.handle)


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.session = Session()


_OF_THREAD = _Sessions()


def call(name: str, *arguments: Any, own: Any = None) -> None:
    """Calls a function in the session of this thread, or in its own; raises what it refuses.  Other threads run meanwhile."""
    session = (own or _OF_THREAD.session).handle
    for kind, value in zip(FUNCTION[name].argtypes[1:], arguments):
        if isinstance(value, int) and kind in (c_int, c_uint32, c_size_t) and kind(value).value != value:
            raise NeardupError(f"{value} is out of range", 1)
    code = FUNCTION[name](session, *arguments)
    if code:
        raise NeardupError(FUNCTION["message"](session).decode(), code)


def free(name: str, memory: Any) -> None:
    """Frees what a call has returned: `name` is free or signer_free."""
    FUNCTION[name](_OF_THREAD.session.handle, memory)


def take(name: str, *arguments: Any, own: Any = None) -> bytes:
    """Calls a function that returns bytes to its caller."""
    result = Bytes()
    call(name, *arguments, byref(result), own=own)
    try:
        return ctypes.string_at(result.bytes, result.length)
    finally:
        free("free", result.bytes)
