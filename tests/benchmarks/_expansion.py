"""More papers than there are: the real ones, then invented ones made of sentences of real
abstracts, the same on every machine.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ROWS_PER_GROUP = 20_000
_COLUMNS = (
    "title",
    "abstract",
    "authors",
    "venue",
    "year",
    "url",
    "pdf_url",
    "doi",
    "keywords",
    "citation_count",
)


def expanded(source: Path, target: Path, count: int) -> Path:
    """Write `count` papers: those of `source`, then mixtures of them with a fixed seed, in groups
    of rows.
    """
    real = pq.read_table(source, columns=list(_COLUMNS)).slice(0, count)
    with pq.ParquetWriter(target, real.schema) as writer:
        writer.write_table(real, row_group_size=_ROWS_PER_GROUP)
        invented = _invented(real.to_pylist(), count - real.num_rows)
        for start in range(0, count - real.num_rows, _ROWS_PER_GROUP):
            rows = [
                next(invented) for _ in range(min(_ROWS_PER_GROUP, count - real.num_rows - start))
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=real.schema))
    return target


def _invented(real: list[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """As long as real ones: a real abstract lends the number of its sentences, others lend the
    sentences.
    """
    chance = random.Random(20261121)
    sentences = [_SENTENCE.split(row["abstract"] or "") for row in real]
    for number in range(count):
        one, other = chance.choice(real), chance.choice(real)
        lengths = len(sentences[chance.randrange(len(real))])
        mixed = [chance.choice(sentences[chance.randrange(len(real))]) for _ in range(lengths)]
        head, tail = (one["title"] or "").split(), (other["title"] or "").split()
        yield {
            **one,
            "title": " ".join(
                [*head[: len(head) // 2 + 1], *tail[len(tail) // 2 :], f"({number})"]
            ),
            "abstract": " ".join(mixed),
            "authors": other["authors"],
            "url": f"https://example.org/invented/{number}",
            "pdf_url": None,
            "doi": None,
        }
