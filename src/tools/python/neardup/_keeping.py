"""What is done past one machine: blocks of values, and the keepers of pairs that are known."""

import ctypes
from array import array
from collections.abc import Iterable
from ctypes import CFUNCTYPE, POINTER, c_bool, c_size_t, c_void_p
from typing import Any

from ._arrow import memory_of
from ._joining import _options
from ._library import Session, call
from ._values import Values

_NEXT = CFUNCTYPE(c_bool, c_void_p, POINTER(c_void_p), POINTER(c_size_t))
_TAKE = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)

# The bytes of a neardup_edge: two numbers of 64 bits and a double.
_EDGE = 24


def blocks_of(values: Any, blocks: int) -> "array[int]":
    """Returns the block of each value, from 0 to blocks - 1.  It depends on the value alone, so equal ones are in one block;
    a null is there as the empty value."""
    made = Values.of(values)
    result = array("I", bytes(4 * len(made)))
    call("blocks", made, blocks, result.buffer_info()[0])
    return result


def keepers(edges: Iterable[Any], *, nearest: bool = False, memory: int = 0) -> bytearray:
    """Finds the keeper of each row that has another than itself, as clusters() does, from the pairs of all values.

    edges come in parts, which are buffers, such as arrays of numpy of the type u8,u8,f8: the numbers of two rows, of 64
    bits, and their similarity, those of pairs(), not by containment, or of all its parts, in any order.  So does what is returned, by rows: the
    row, its keeper and their similarity.  Memory is as that of clusters(), and a bit a row."""
    parts = filter(len, map(memory_of, edges))
    result, failed = bytearray(), []
    part: Any = None

    def following(state: Any, start: Any, count: Any) -> bool:
        nonlocal part
        try:
            part = next(parts, None)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)
            return False
        start[0], count[0] = (None, 0) if part is None else (ctypes.addressof(part), len(part) // _EDGE)
        return True

    def take(state: Any, start: Any, count: int) -> bool:
        try:
            result.extend(ctypes.string_at(start, count * _EDGE))
        except BaseException as error:  # noqa: BLE001
            failed.append(error)
        return not failed

    try:
        call("keepers", _NEXT(following), _TAKE(take), None, _options(1, False, False, nearest, 1, memory, None), own=Session())
    except ValueError:
        if failed:
            raise failed[0] from None
        raise
    return result
