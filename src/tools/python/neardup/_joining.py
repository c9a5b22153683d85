"""Many values: which are similar, and which of them stay."""

import struct
from array import array
from collections.abc import Iterator, Sequence
from ctypes import byref, c_size_t, c_uint8, c_uint32, c_void_p
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _arrow
from ._library import Options, alone, call, free, integer, threads
from ._values import Values

NO_KEEPER = 0xFFFFFFFF

_PAIR = struct.Struct("=IId")


class Pair(NamedTuple):
    """Two similar values: their numbers `a` and `b`, from 0, and their `similarity`, from 0 to 1."""

    a: int
    b: int
    similarity: float


class Pairs(Sequence[Pair]):
    """Pairs in order, as neardup_pairs() returns them.

    numpy.asarray(pairs) is a structured array of a, b and similarity in the same memory.  pyarrow.table(pairs), or what
    else reads Arrow's PyCapsule interface, makes a table of them."""

    def __init__(self, data: Any) -> None:
        self._view = memoryview(data)

    def __reduce__(self) -> Any:
        return Pairs, (self._view.tobytes(),)

    def __len__(self) -> int:
        return len(self._view) // _PAIR.size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Pair(*_PAIR.unpack_from(self._view, range(len(self))[index] * _PAIR.size))

    def __iter__(self) -> Iterator[Pair]:
        return map(Pair._make, _PAIR.iter_unpack(self._view))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pairs) and self._view == other._view

    def __repr__(self) -> str:
        return f"Pairs({len(self)} pairs)"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy
        pairs = numpy.frombuffer(self._view, [("a", "u4"), ("b", "u4"), ("similarity", "f8")])
        return pairs.astype(dtype, copy=bool(copy)) if dtype or copy else pairs

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        numbers, similarities = self._view.cast("I"), self._view.cast("d")
        return _table(len(self), a=("I", numbers[::4].tobytes()), b=("I", numbers[1::4].tobytes()),
                      similarity=("g", similarities[1::2].tobytes()))


@dataclass
class Clusters:
    """For each value the number of its keeper, which is its own number if it stays, or NO_KEEPER if it is empty or, with
    `against`, similar to none; and its similarity to the keeper, from 0 to 1.  numpy.asarray() copies neither; a table of
    Arrow, as pyarrow.table(clusters), has null for NO_KEEPER."""

    keeper: "array[int]"
    similarity: "array[float]"

    def __iter__(self) -> Iterator[Any]:
        return iter((self.keeper, self.similarity))

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        nulls = bytearray(keeper == NO_KEEPER for keeper in self.keeper)
        return _table(len(nulls), keeper=("I", self.keeper, nulls if 1 in nulls else None), similarity=("g", self.similarity))


def _table(count: int, **columns: Any) -> tuple[Any, Any]:
    """Returns the capsules of a table of columns: the type of each, its buffer, and its nulls."""
    fields = []
    for name, (kind, buffer, *nulls) in columns.items():
        fields.append(_arrow.field(kind, count, [buffer], nulls[0] if nulls else None, name))
    return _arrow.export("+s", count, children=fields)


def _options(threshold: float, multiset: bool, containment: bool, nearest: bool, jobs: int, memory: int, contained: float | None,
             part: tuple[int, int, int] | None = None) -> Any:
    share = 0 if contained is None else contained or -1
    numbers = (integer(number, c_uint32) for number in part or ())
    return byref(Options(threshold, multiset, containment, nearest, threads(jobs), integer(memory, c_size_t), share, *numbers))


def pairs(values: Any, threshold: float, *, against: Any = None, multiset: bool = False, containment: bool = False,
          contained: float | None = None, jobs: int = 1, memory: int = 0, part: tuple[int, int, int] | None = None) -> Pairs:
    """Finds all pairs of values of at least this similarity (above 0, at most 1), as neardup_pairs() in SQL.

    Values are bytes, or in an array of uint8 or a binary column; of texts (str) minhash() is made.  Returns Pairs.  Of
    equal values only the first is in pairs, and each other one is paired with it.  With `against`, b is the number of one
    of its values.  Sets are compared by resemblance, or as multisets, or by containment.  Minhashes that
    are decided_by() sets are compared by those of which the threshold may hold, but for one in 30,000 that lies just at it;
    with `contained`, such a pair is similar if a has at least this share of b's set.  memory is about how many bytes to take, with temporary files beyond, 0 half of the machine's; NeardupError (code 4) if the pairs take
    more.  With part=(blocks, a, b), a <= b, only pairs of the values of block a with those of b: those of all such parts
    are all pairs.  blocks_of() says which values a part needs; with `against`, a is not used, and blocks are of that."""
    mine, other, start, count = Values.of(values), None if against is None else Values.of(against), c_void_p(), c_size_t()
    options = _options(threshold, multiset, containment, False, jobs, memory, contained, part)
    alone(lambda: call("pairs", mine, other, options, byref(start), byref(count)))
    try:
        return Pairs(bytearray((c_uint8 * (count.value * _PAIR.size)).from_address(start.value or 0)))
    finally:
        free("free", start)


def clusters(values: Any, threshold: float, *, against: Any = None, multiset: bool = False, containment: bool = False,
             nearest: bool = False, contained: float | None = None, jobs: int = 1, memory: int = 0) -> Clusters:
    """Finds for each value the first earlier keeper that is similar to it, else itself, as neardup_clusters() in SQL.

    With `nearest`, the most similar keeper.  With `against`, keepers are its values only.  Otherwise as pairs()."""
    mine, other = Values.of(values), None if against is None else Values.of(against)
    return _clusters(mine, len(mine), other, _options(threshold, multiset, containment, nearest, jobs, memory, contained))


def _clusters(values: Any, count: int, against: Values | None, options: Any) -> Clusters:
    result = Clusters(array("I", bytes(4 * count)), array("d", bytes(8 * count)))
    alone(lambda: call("clusters", values, against, options, result.keeper.buffer_info()[0], result.similarity.buffer_info()[0]))
    return result


class Kept(NamedTuple):
    """Clusters of those values to which none in `against` is similar, the clusters with `against`, and which values stay."""

    clusters: Clusters
    held: Clusters | None
    stay: list[int]


def keep(values: Values, threshold: float, against: Values | None = None, *, multiset: bool = False, containment: bool = False,
         nearest: bool = False, contained: float | None = None, jobs: int = 1, memory: int = 0) -> Kept:
    """Finds the values that stay: the first of each cluster, and empty ones, unless one in `against` is similar."""
    options = _options(threshold, multiset, containment, nearest, jobs, memory, contained)
    held = None
    if against is not None:
        held = _clusters(values, len(values), against, options)
        chosen = array("I", (i for i, keeper in enumerate(held.keeper) if keeper == NO_KEEPER))
        some = _clusters(values.chosen(chosen), len(chosen), None, options)
        found = Clusters(array("I", [NO_KEEPER]) * len(values), array("d", [0]) * len(values))
        for number, keeper, similarity in zip(chosen, *some):
            found.keeper[number] = NO_KEEPER if keeper == NO_KEEPER else chosen[keeper]
            found.similarity[number] = similarity
    else:
        found, chosen = _clusters(values, len(values), None, options), array("I", range(len(values)))
    return Kept(found, held, [i for i in chosen if found.keeper[i] in (i, NO_KEEPER)])
