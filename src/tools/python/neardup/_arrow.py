"""Columns in the Arrow C data interface, by its capsules: those of others are read where they lie, and ours are made."""

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from ctypes import CFUNCTYPE, POINTER, PYFUNCTYPE, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_void_p, py_object
from typing import Any, NamedTuple

from ._library import FUNCTION, LIBRARY, Column, call


class Schema(ctypes.Structure):
    """An ArrowSchema."""


class Array(ctypes.Structure):
    """An ArrowArray."""


Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
                   ("children", POINTER(POINTER(Schema))), ("dictionary", POINTER(Schema)), ("release", c_void_p), ("private", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
                  ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))), ("dictionary", POINTER(Array)),
                  ("release", c_void_p), ("private", c_void_p)]


class _Stream(ctypes.Structure):
    _fields_ = [("get_schema", CFUNCTYPE(c_int, c_void_p, POINTER(Schema))), ("get_next", CFUNCTYPE(c_int, c_void_p, POINTER(Array))),
                ("get_last_error", CFUNCTYPE(c_char_p, c_void_p)), ("release", c_void_p), ("private", c_void_p)]


class _Field(ctypes.Structure):
    """A neardup_field."""


_Field._fields_ = [("format", c_char_p), ("name", c_char_p), ("count", c_size_t), ("null", c_void_p), ("buffer", c_void_p * 2),
                   ("bytes", c_size_t * 2), ("children", c_size_t), ("child", POINTER(_Field))]

_RELEASE = CFUNCTYPE(None, c_void_p)
_get_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_new_capsule = PYFUNCTYPE(py_object, c_void_p, c_void_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_allocate = CFUNCTYPE(c_void_p, c_size_t)(("malloc", LIBRARY))
FUNCTION["capsules"](ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p))

# A capsule may outlive this module, and has a pointer to its name.
_SCHEMA, _ARRAY = ctypes.create_string_buffer(b"arrow_schema"), ctypes.create_string_buffer(b"arrow_array")
for _name in _SCHEMA, _ARRAY:
    ctypes.pythonapi.Py_IncRef(py_object(_name))

# The bytes of an entry of each type of texts, and of each type of numbers in a dictionary.
_ENTRY = {b"u": 4, b"z": 4, b"U": 8, b"Z": 8, b"vu": 16, b"vz": 16}
_NAMES = {b"+r": "run_end_encoded, which pyarrow.compute.run_end_decode() decodes", b"+l": "list", b"+L": "large_list", b"+s": "struct"}
_NUMBER = {b"c": 1, b"C": 1, b"s": 2, b"S": 2, b"i": 4, b"I": 4, b"l": 8, b"L": 8}


# ---- Columns of others -----------------------------------------------------


class Chunk(NamedTuple):
    """An array with its schema, and what has to live as long."""

    schema: Any
    array: Any
    owner: Any


class Chunks(NamedTuple):
    """A column in parts, each of which has the interface."""

    parts: Iterable[Any]


class _Released:
    """A structure that is released at its end."""

    def __init__(self, kind: Any) -> None:
        self.structure = kind()

    def __del__(self, release: Any = _RELEASE, byref: Any = byref) -> None:
        if self.structure.release:
            release(self.structure.release)(byref(self.structure))


def has_interface(source: Any) -> bool:
    """Returns whether something is a column or a table of Arrow."""
    return isinstance(source, Chunks) or hasattr(source, "__arrow_c_array__") or hasattr(source, "__arrow_c_stream__")


def chunks_of(source: Any) -> Iterator[Chunk]:
    """Yields the arrays of what has the interface: an array, or a stream of them."""
    if isinstance(source, Chunks):
        for part in source.parts:
            yield from chunks_of(part)
    elif hasattr(source, "__arrow_c_array__"):
        capsules = source.__arrow_c_array__()
        schema, array = (_get_pointer(capsule, name.value) for capsule, name in zip(capsules, (_SCHEMA, _ARRAY)))
        yield Chunk(Schema.from_address(schema), Array.from_address(array), capsules)
    else:
        capsule = source.__arrow_c_stream__()
        yield from _chunks_of_stream(_get_pointer(capsule, b"arrow_array_stream"), capsule)


def _chunks_of_stream(pointer: int, capsule: Any) -> Iterator[Chunk]:
    stream, schema = _Stream.from_address(pointer), _Released(Schema)

    def check(code: int) -> None:
        if code:
            message = stream.get_last_error(pointer)
            raise RuntimeError(message.decode(errors="replace") if message else f"a stream of Arrow ended with error {code}")

    check(stream.get_schema(pointer, byref(schema.structure)))
    while True:
        array = _Released(Array)
        check(stream.get_next(pointer, byref(array.structure)))
        if not array.structure.release:
            return
        yield Chunk(schema.structure, array.structure, (schema, array, capsule))


def _name_of(schema: Any) -> str:
    return _NAMES.get(schema.format, repr(schema.format.decode()))


def texts_of(chunk: Chunk) -> Column:
    """Returns the texts of an array, as a neardup_column."""
    schema, array, _ = chunk
    if schema.format == b"+s" and schema.n_children == 1:
        column = texts_of(Chunk(schema.children[0].contents, array.children[0].contents, None))
        column.first, column.count = column.first + array.offset, array.length
        return column
    column = Column(array.length, array.offset, width=4)
    if schema.format == b"n":
        column.none = (c_uint8 * (array.offset + array.length + 1))()
        column.validity = ctypes.addressof(column.none)
        return column
    if schema.dictionary:
        column.width = _NUMBER[schema.format]
        column.dictionary = ctypes.pointer(texts_of(Chunk(schema.dictionary.contents, array.dictionary.contents, None)))
    elif schema.format in _ENTRY:
        column.width = _ENTRY[schema.format]
        column.data = array.buffers[2] if array.n_buffers > 2 else None
        column.buffer = ctypes.addressof(array.buffers.contents) + 2 * ctypes.sizeof(c_void_p)
    else:
        raise TypeError(f"a column of texts has Arrow's type utf8 or binary, not {_name_of(schema)}"
                        + (": name a column of the table" if schema.format == b"+s" else ""))
    column.validity, column.entry = array.buffers[0], array.buffers[1]
    return column


def bytes_of(chunk: Chunk) -> Iterator[bytes | None]:
    """Yields the bytes of an array of a binary type, and None for its nulls."""
    schema, array, _ = chunk
    start, count, buffers = array.offset, array.length, array.buffers
    valid = int.from_bytes(ctypes.string_at(buffers[0], (start + count + 7) // 8), "little") >> start if buffers[0] else -1
    if schema.format.startswith(b"w:"):
        size = int(schema.format[2:])
        place: Any = ((buffers[1] + i * size, size) for i in range(start, start + count))
    elif schema.format == b"vz":
        place = (_place_of_view(buffers, i) for i in range(start, start + count))
    elif schema.format in _ENTRY:
        kind = c_int32 if _ENTRY[schema.format] == 4 else c_int64
        entry = (kind * (start + count + 1)).from_address(buffers[1]) if count else []
        place = ((buffers[2] + entry[i], entry[i + 1] - entry[i]) for i in range(start, start + count))
    else:
        raise TypeError(f"a column of values has Arrow's type binary, not {_name_of(schema)}")
    for bit, (address, length) in zip(f"{valid & (1 << count) - 1:0{count}b}"[::-1], place):
        yield ctypes.string_at(address, length) if bit == "1" else None


def _place_of_view(buffers: Any, i: int) -> tuple[int, int]:
    length, _, buffer, start = (c_int32 * 4).from_address(buffers[1] + 16 * i)
    return (buffers[1] + 16 * i + 4 if length <= 12 else buffers[2 + buffer] + start), length


def rows_of(chunk: Chunk) -> tuple[Any, int] | None:
    """Returns the memory of an array of fixed_size_binary without nulls, and the bytes of each; None for another."""
    schema, array, _ = chunk
    if not schema.format.startswith(b"w:") or array.buffers[0] or not array.length:
        return None
    size = int(schema.format[2:])
    return (c_uint8 * (array.length * size)).from_address(array.buffers[1] + array.offset * size), size


def has_texts(source: Any) -> bool:
    """Returns whether a column is of a type of texts."""
    for chunk in chunks_of(source):
        return (chunk.schema.dictionary or ctypes.pointer(chunk.schema)).contents.format in (b"u", b"U", b"vu")
    return False


# ---- Our columns -----------------------------------------------------------


def memory_of(data: Any) -> Any:
    """Returns the memory of bytes, of an array or of a buffer, as an array of ctypes: a copy if it cannot be written to."""
    view = memoryview(data).cast("B")
    block = c_uint8 * len(view)
    return block.from_buffer_copy(view) if view.readonly or not len(view) else block.from_buffer(view)


def field(kind: str, count: int, buffers: Sequence[Any] = (), nulls: bytearray | None = None, name: str = "",
           children: Sequence[Any] = ()) -> Any:
    blocks = list(map(memory_of, buffers))
    pad = [None] * (2 - len(blocks))
    field = _Field(kind.encode(), name.encode(), count, None if nulls is None else ctypes.addressof(memory_of(nulls)),
                   (c_void_p * 2)(*map(ctypes.addressof, blocks), *pad), (c_size_t * 2)(*map(len, blocks)), len(children),
                   (_Field * len(children))(*children))
    field.blocks = blocks, nulls, children
    return field


def export(*parts: Any, **more: Any) -> tuple[Any, Any]:
    """Returns the capsules of a schema and an array that has copies of the buffers of a field."""
    schema, array = _allocate(ctypes.sizeof(Schema)), _allocate(ctypes.sizeof(Array))
    call("export", byref(field(*parts, **more)), schema, array)
    return (_new_capsule(schema, ctypes.addressof(_SCHEMA), ctypes.cast(LIBRARY.neardup_free_schema, c_void_p)),
            _new_capsule(array, ctypes.addressof(_ARRAY), ctypes.cast(LIBRARY.neardup_free_array, c_void_p)))
