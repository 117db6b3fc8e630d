"""Text → index terms: the same tokens, stems and stop words for papers, queries and seeds."""

from functools import cache
from itertools import islice

import tantivy

TOKENIZER = "english_words"
LONGEST_WORD = 40
_MOST_QUERY_TERMS = 96
_LONGEST_TEXT = 20_000
_DROPPED_WORDS = """
also among based between both can could do does during et al has have how however its may might more most our over paper
papers propose proposed show shows should study such than their them these those through thus upon use used uses using
via we were what when where whether which while who whose why would
"""


@cache
def analyzer() -> tantivy.TextAnalyzer:
    """Words in lower case without stop words, stemmed. Register it as `TOKENIZER` on every index that is opened."""
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
    """The terms of a text in order, repeated as in the text."""
    return list(analyzer().analyze(text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")))


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query, in order; no character of it means anything but itself."""
    return list(islice(dict.fromkeys(terms_of(text)), _MOST_QUERY_TERMS))
