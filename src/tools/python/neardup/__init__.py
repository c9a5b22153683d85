"""Near-duplicate texts, with the bits of the PostgreSQL extension neardup.

    table = neardup.dedupe(table, 0.8, text="body", jobs=8)     # of pyarrow, Polars, pandas, DuckDB, datasets, daft, or dicts

A value is `bytes` in the binary format of the SQL types minhash, simhash and shingles: what COPY BINARY and psycopg with
binary results give and take, and a parameter in `%s::bytea::minhash`.  Equal bytes are equal values, and the server makes
the same ones of the same text.

    signatures = neardup.minhash(texts, jobs=8)          # of an iterable, or of a column where it lies
    neardup.similarity(signatures[0], signatures[1])     # 0.93
    neardup.pairs(signatures, 0.8)                       # pyarrow.table() and numpy.asarray() take it

Texts are str, or bytes in UTF-8; characters that are not well-formed separate words.  All functions may be called in any
number of threads, which run side by side, and after a fork; Ctrl-C ends them.  Results and lexicons can be pickled.  What
is refused raises NeardupError, a ValueError.
"""

from ._copying import copy_binary, read_binary
from ._joining import NO_KEEPER, Clusters, Pair, Pairs, clusters, pairs
from ._keeping import blocks_of, keepers
from ._library import FUNCTION as _FUNCTION
from ._library import NeardupError
from ._passages import Passage
from ._refusal import Refusal, refusal
from ._signing import Lexicon, minhash, shingles, simhash
from ._tables import dedupe
from ._values import Comparison, Values, compare, edit_distance, from_text, mask_changing, similarity, to_text

__all__ = ["NO_KEEPER", "Clusters", "Comparison", "Lexicon", "NeardupError", "Pair", "Pairs", "Passage", "Refusal", "Values", "blocks_of", "clusters",
           "compare", "copy_binary", "dedupe", "edit_distance", "from_text", "keepers", "mask_changing", "minhash", "pairs", "read_binary",
           "refusal", "shingles", "simhash", "similarity", "to_text"]

__version__: str = _FUNCTION["version"]().decode()
