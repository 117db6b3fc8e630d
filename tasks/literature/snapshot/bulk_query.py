"""The query language of bulk search: `"a phrase" | word + -not (group)`, read leniently.

API: GET /paper/search/bulk. Words are ANDed unless `|` stands between them; `+` is AND, `-` NOT,
`*` ends a prefix and `~N` fuzziness: both are read as the plain word here.
"""

from dataclasses import dataclass

import tantivy

from schemas.patterns import bounded
from tasks.literature.snapshot.text_index import TextIndex, query_terms, terms_of

_TOKEN = bounded(r'"(?P<phrase>[^"]*)"?|(?P<mark>[()|+])|(?P<minus>-)(?=\S)|(?P<word>[^\s"()|+]+)')
_DEEPEST = 20


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
        found = [self.conjunction(depth)]
        while self.peek() == ("mark", "|"):
            self.take()
            found.append(self.conjunction(depth))
        queries = [query for query in found if query is not None]
        return self.index.either(queries) if len(queries) > 1 else next(iter(queries), None)

    def conjunction(self, depth: int) -> tantivy.Query | None:
        wanted: list[tantivy.Query] = []
        unwanted: list[tantivy.Query] = []
        while self.peek()[0] != "end" and self.peek() not in (("mark", "|"), ("mark", ")")):
            negative = self.peek()[0] == "minus"
            if negative:
                self.take()
            query = self.operand(depth)
            if query is not None:
                (unwanted if negative else wanted).append(query)
        if not wanted and not unwanted:
            return None
        positive = self.index.both(wanted) if wanted else self.index.everything()
        return self.index.without(positive, unwanted) if unwanted else positive

    def operand(self, depth: int) -> tantivy.Query | None:
        kind, text = self.take()
        if kind == "phrase":
            terms = terms_of(text)
            return self.index.phrase(terms) if terms else None
        if kind == "word":
            terms = query_terms(text)
            return self.index.all_of(terms) if terms else None
        if (kind, text) == ("mark", "(") and depth < _DEEPEST:
            inner = self.alternatives(depth + 1)
            if self.peek() == ("mark", ")"):
                self.take()
            return inner
        return None


def parse_bulk_query(text: str, index: TextIndex) -> tantivy.Query:
    """The papers a bulk query asks for. An empty query asks for all; no text is an error."""
    tokens = [
        (str(found.lastgroup), found.group(str(found.lastgroup)))
        for found in _TOKEN.finditer(text)
        if found.lastgroup
    ]
    reader = _Reader(index, tokens)
    found: list[tantivy.Query] = []
    while reader.peek()[0] != "end":
        query = reader.alternatives(0)
        if query is not None:
            found.append(query)
        if reader.peek() == ("mark", ")"):
            reader.take()
    if not found:
        return index.everything() if not text.strip() else tantivy.Query.empty_query()
    return index.both(found) if len(found) > 1 else found[0]
