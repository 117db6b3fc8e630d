"""BM25 text index over titles and abstracts (tantivy), and the parser of bulk queries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import tantivy

from schemas.errors import SnapshotError
from schemas.text.patterns import bounded
from tasks.literature.snapshot.records import PaperRecord

# Index terms: the same tokens, stems and stop words for papers, queries and seeds.

TOKENIZER = "english_words"
LONGEST_WORD = 40
_MOST_QUERY_TERMS = 96
# A query may be a whole document.
_LONGEST_TEXT = 20_000
_DROPPED_WORDS = """
also among based between both can could do does during et al has have how however its may might
more most our over paper papers propose proposed show shows should study such than their them
these those through thus upon use used uses using via we were what when where whether which
while who whose why would
"""


@cache
def analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer: lower-case stemmed words without stop words.

    Register it as `TOKENIZER` on every opened index.
    """
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for each in (
        filters.remove_long(LONGEST_WORD),
        filters.ascii_fold(),
        filters.lowercase(),
        filters.stopword("english"),
        filters.custom_stopword(_DROPPED_WORDS.split()),
        filters.stemmer("english"),
    ):
        builder = builder.filter(each)
    return builder.build()


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions."""
    return list(analyzer().analyze(text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")))


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a query in order.

    The query has no syntax.
    """
    return list(islice(dict.fromkeys(terms_of(text)), _MOST_QUERY_TERMS))


TITLE_BOOST = 2.0
_COMMIT_EVERY = 20_000
_WRITER_BYTES = 64_000_000
# Extra hits that usually suffice to find the end of a tie at the limit.
_SPARE_HITS = 16
# Beyond these digits the scores of two machines differ.
_SCORE_DIGITS = 4
_PANIC = "PanicException"


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper by number; scores are comparable within one search only."""

    number: int
    score: float


@dataclass(frozen=True, slots=True)
class DayRange:
    """Publication days as YYYYMMDD, both ends included."""

    first: int = 0
    last: int = 99_999_999


EVER = DayRange()


@dataclass(frozen=True, slots=True)
class YearOnlyCounts:
    """Counts of papers of the cutoff's year that are dated by year alone.

    Attributes:
        searched: their venue's month ended by the cutoff.
        left_out_by_month: their venue's month ended later.
        left_out_by_year: their venue's month is unknown, or December.
    """

    searched: int
    left_out_by_month: int
    left_out_by_year: int


PapersFrom = Callable[[int], Iterator[tuple[int, PaperRecord]]]
"""Returns (number, paper) in order, from a number on."""


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title", stored=False, tokenizer_name=TOKENIZER, index_option="position")
    builder.add_text_field(
        "abstract", stored=False, tokenizer_name=TOKENIZER, index_option="position"
    )
    builder.add_unsigned_field("number", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("day", stored=False, indexed=True, fast=True)
    builder.add_unsigned_field("year_alone", stored=False, indexed=True, fast=True)
    return builder.build()


def _register_tokenizer(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(TOKENIZER, analyzer())
    return index


def write_text_index(
    folder: Path, papers_from: PapersFrom, on_commit: Callable[[int], None]
) -> None:
    """Index the papers in the order of their numbers.

    A killed build resumes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = _register_tokenizer(tantivy.Index(_schema(), path=str(folder)))
    index.reload()
    writer = index.writer(_WRITER_BYTES, 1)
    # A commit covers all papers added before it, so the count is the number of the next paper.
    written_count = index.searcher().num_docs
    for number, record in papers_from(written_count):
        body = (record.abstract or record.tldr, " ".join(record.keywords or ()))
        document = tantivy.Document()
        document.add_text("title", record.title)
        document.add_text("abstract", " ".join(filter(None, body)))
        document.add_unsigned("number", number)
        document.add_unsigned("day", record.last_day)
        document.add_unsigned("year_alone", record.year_alone)
        writer.add_document(document)
        written_count = number + 1
        if written_count % _COMMIT_EVERY == 0:
            writer.commit()
            on_commit(written_count)
    writer.commit()
    writer.wait_merging_threads()
    on_commit(written_count)


def either(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def both(
    queries: Sequence[tantivy.Query], excluded_queries: Sequence[tantivy.Query] = ()
) -> tantivy.Query:
    """Return a query for papers that match all queries, and none of the unwanted."""
    required_clauses = [(tantivy.Occur.Must, query) for query in queries]
    excluded_clauses = [(tantivy.Occur.MustNot, query) for query in excluded_queries]
    return tantivy.Query.boolean_query([*required_clauses, *excluded_clauses])


class TextIndex:
    """A finished index, read-only and memory-mapped."""

    def __init__(self, folder: Path) -> None:
        """Open the index. Raises SnapshotError if it is missing or damaged."""
        self._folder = folder
        with self._read():
            self._index = _register_tokenizer(tantivy.Index.open(str(folder)))
            self._schema = self._index.schema
            if self._schema != _schema():
                raise ValueError("it has other fields")
            self._searcher = self._index.searcher()

    @contextmanager
    def _read(self) -> Iterator[None]:
        """Convert errors of damaged index files to SnapshotError."""
        try:
            yield
        except BaseException as error:
            # A Rust panic in tantivy is raised as a BaseException.
            if not isinstance(error, ValueError | OSError) and type(error).__name__ != _PANIC:
                raise
            raise SnapshotError(
                f"{self._folder} is no readable index ({str(error).splitlines()[0][:120]}); build"
                " the snapshot again"
            ) from error

    def count(self) -> int:
        return int(self._searcher.num_docs)

    def document_frequency(self, term: str) -> int:
        """Return the number of papers with the term in their abstract."""
        with self._read():
            return int(self._searcher.doc_freq("abstract", term))

    def year_only_counts(self, last_day: int) -> YearOnlyCounts:
        """Count the papers dated by the year of `last_day` (YYYYMMDD) alone."""
        year = last_day // 10_000
        of_year = self._in_range("year_alone", year, year)

        def count(first: int, last: int) -> int:
            query = both([of_year, self._in_range("day", first, last)])
            with self._read():
                return int(self._searcher.search(query, limit=1, count=True).count or 0)

        december = year * 10_000 + 1231
        if last_day >= december:
            return YearOnlyCounts(count(0, december), 0, 0)
        return YearOnlyCounts(
            searched=count(0, last_day),
            left_out_by_month=count(last_day + 1, december - 1),
            left_out_by_year=count(december, december),
        )

    def _in_range(self, field: str, first: int, last: int) -> tantivy.Query:
        return tantivy.Query.range_query(
            self._schema, field, tantivy.FieldType.Unsigned, first, last
        )

    def any_of(self, terms: Iterable[str]) -> tantivy.Query:
        """Return a query for papers with at least one of the terms."""
        return either([query for term in terms for query in self._in_each_field(term)])

    def all_of(self, terms: Iterable[str]) -> tantivy.Query:
        return both([either(self._in_each_field(term)) for term in terms])

    def phrase(self, terms: Sequence[str]) -> tantivy.Query:
        if len(terms) < 2:
            return self.all_of(terms)
        phrase = tantivy.Query.phrase_query
        return either([phrase(self._schema, each, list(terms)) for each in ("title", "abstract")])

    def _in_each_field(self, term: str) -> list[tantivy.Query]:
        title, abstract = (
            tantivy.Query.term_query(self._schema, field, term, index_option="freq")
            for field in ("title", "abstract")
        )
        return [tantivy.Query.boost_query(title, TITLE_BOOST), abstract]

    def search(
        self, query: tantivy.Query, limit: int, days: DayRange = EVER
    ) -> tuple[list[Hit], int]:
        """Return the best `limit` papers within `days`, and the number of matches.

        All papers tied with the last one are included, so that a caller can order ties.
        """
        if days != EVER:
            range_query = self._in_range("day", days.first, days.last)
            query = both([query, tantivy.Query.const_score_query(range_query, 0.0)])
        with self._read():
            return self._best_hits(query, limit)

    def _best_hits(self, query: tantivy.Query, limit: int) -> tuple[list[Hit], int]:
        hit_limit = limit + _SPARE_HITS
        while True:
            results = self._searcher.search(query, limit=hit_limit, count=True)
            hits = [(round(score, _SCORE_DIGITS), address) for score, address in results.hits]
            if len(hits) < hit_limit or hits[limit - 1][0] > hits[-1][0]:
                break
            hit_limit *= 4
        border = hits[min(limit, len(hits)) - 1][0] if hits else 0.0
        best = [(score, address) for score, address in hits if score >= border]
        numbers = self._searcher.fast_field_values("number", [address for _, address in best])
        return [
            Hit(int(number or 0), score) for (score, _), number in zip(best, numbers, strict=True)
        ], int(results.count or 0)


_TOKEN = bounded(r'"(?P<phrase>[^"]*)"?|(?P<mark>[()|+])|(?P<minus>-)(?=\S)|(?P<word>[^\s"()|+]+)')
# The parser recurses for each parenthesis, and a hostile query may have thousands.
_MAXIMUM_DEPTH = 20


@dataclass(slots=True)
class _Reader:
    index: TextIndex
    tokens: list[tuple[str, str]]
    place: int = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.place += 1
        return token

    def alternatives(self, depth: int) -> tantivy.Query | None:
        operands = [self.conjunction(depth)]
        while self.peek() == ("mark", "|"):
            self.take()
            operands.append(self.conjunction(depth))
        queries = [query for query in operands if query is not None]
        return either(queries) if len(queries) > 1 else next(iter(queries), None)

    def conjunction(self, depth: int) -> tantivy.Query | None:
        wanted_queries: list[tantivy.Query] = []
        unwanted_queries: list[tantivy.Query] = []
        while self.peek()[0] != "end" and self.peek() not in (("mark", "|"), ("mark", ")")):
            negative = self.peek()[0] == "minus"
            if negative:
                self.take()
            query = self.operand(depth)
            if query is not None:
                (unwanted_queries if negative else wanted_queries).append(query)
        if not wanted_queries and not unwanted_queries:
            return None
        return both(wanted_queries or [tantivy.Query.all_query()], unwanted_queries)

    def operand(self, depth: int) -> tantivy.Query | None:
        kind, text = self.take()
        if kind == "phrase":
            terms = terms_of(text)
            return self.index.phrase(terms) if terms else None
        if kind == "word":
            terms = query_terms(text)
            return self.index.all_of(terms) if terms else None
        if (kind, text) == ("mark", "(") and depth < _MAXIMUM_DEPTH:
            inner = self.alternatives(depth + 1)
            if self.peek() == ("mark", ")"):
                self.take()
            return inner
        return None


def parse_bulk_query(text: str, index: TextIndex) -> tantivy.Query:
    """Parse a bulk query. Any text is valid.

    An empty query matches all papers.

    API: GET /paper/search/bulk, `"a phrase" | word + -not (group)`. Words are combined with AND, or
    with OR by `|`; `+` is AND and `-` NOT. The prefix operator `*` and fuzziness `~N` are ignored.
    """
    tokens = [
        (match.lastgroup, match[match.lastgroup])
        for match in _TOKEN.finditer(text)
        if match.lastgroup
    ]
    reader = _Reader(index, tokens)
    queries: list[tantivy.Query] = []
    while reader.peek()[0] != "end":
        query = reader.alternatives(0)
        if query is not None:
            queries.append(query)
        if reader.peek() == ("mark", ")"):
            reader.take()
    if not queries:
        return tantivy.Query.all_query() if not text.strip() else tantivy.Query.empty_query()
    return both(queries) if len(queries) > 1 else queries[0]
