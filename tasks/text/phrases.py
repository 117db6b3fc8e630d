"""Subject-specific words and phrases for the extractive baselines, and queries of them."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from tasks.text.vocabulary import STOP_WORDS, words_of
from tasks.text.words import content_words, key_phrases, words

_GENERAL_WORDS = """
ability account accuracy accurate achieve achieves across additional additionally address addressing
advanced affect affects allow allowing allows alone analysis analyze application applications apply
applying approach appropriate art aspect aspects assess assessing assessment available average base
based baseline baselines begin best better beyond capabilities capability capture capturing
carefully case cases certain challenge challenges change changes choose chosen collect collected
collecting combine combining common compare compared comparison complex component components
comprehensive compute concerning condition conditions conduct configuration consider considering
contain contribution core create current data dataset datasets define defined definition demonstrate
design designed determine develop developing development directly distinguish effective effectively
efficiency efficient employ employing enable enables enabling end ensure entire establish evaluate
evaluating evaluation examine example exclude excluding expect expected experiment experimental
experiments explore extend extensive factor feature features field find five focus formalize
formulate four framework fundamental general generate generating given goal group groups guarantee
help high higher hypothesis idea ideas identify implement implementation important improve improved
improvement improving including incorporate increase increasing independent independently
information innovation input inputs insight insights inspired introduce introducing involve involves
issue key large larger lead leaving level leverage leveraging limitation limitations limited low
lower main maintain maintaining making measure measures measuring mechanism method methods metric
metrics model modeling models monitor multiple necessary need novel number objective objectives
observe observed obtain open operate optimal order original outcome outperform output overall part
particular perform performance perspective plan planned popular possible potential preserve
preserving previous prior problem problems procedure process produce producing promising property
proposed publicly purpose quality question questions range rate real receive reduce reducing
regarding related relative relevant remove replace report represent representative require research
result results retaining rich robust role scenario scenarios select selected set setting settings
sharing show significance significant significantly simple simulating single small solution solve
sometimes standard state state- of-the-art statistical step strategy strength strong structure
superior support system systems tackle target task tasks technique techniques term test testing
three time tool total train trained training two type typical underlying understand understanding
unified validate validation value values variety various varying versus way well-known wide world
yield yields
"""
GENERAL = frozenset(stem for word in words_of(_GENERAL_WORDS) for stem in content_words(word))
"""Stems of nearly every abstract, ignored in comparisons."""
_NOUNS_IN_ING = words_of("""
    bargaining binding boosting breeding caching clustering computing crowdsourcing decoding
    embedding encoding engineering filtering finding fine-tuning folding foraging forecasting
    grazing hashing imaging labeling labelling learning mapping matching mining modeling modelling
    monitoring nesting parsing planning pooling processing programming prompting pruning ranking
    reasoning rendering routing sampling scheduling screening sensing sequencing signaling
    signalling smoothing spiking thinking tracking training tuning understanding warming
    """)
_TRAILING_WORDS = words_of("""
    incorporates affect affects captures reflect reflects falls produces requires remains allows
    yields enables contains drives relies without within while during given necessary versus via per
    due
    """)
_DERIVATIONS = (
    "iviti",
    "ivity",
    "ion",
    "iv",
    "or",
    "ic",
    "al",
    "ant",
    "ent",
    "anc",
    "enc",
    "er",
    "at",
)


@lru_cache(maxsize=2048)
def specific_stems(text: str) -> frozenset[str]:
    """Return the subject-specific stems of `text`."""
    return frozenset(stem_counts(text))


def stem_counts(text: str) -> Counter[str]:
    """Count the `specific_stems` of `text`."""
    return Counter(
        _family(stem) for stem in content_words(text) if stem not in GENERAL and not stem.isdigit()
    )


def salience(phrase: str, counts: Counter[str]) -> int:
    """Return the count of the phrase's rarest specific stem."""
    return min((counts[stem] for stem in specific_stems(phrase)), default=0)


def _family(stem: str) -> str:
    """Remove a derivational suffix, so that `deception` and `deceptive` match."""
    for ending in _DERIVATIONS:
        if stem.endswith(ending) and len(stem) - len(ending) >= 5:
            return stem[: -len(ending)]
    return stem


def specific_phrases(text: str, limit: int) -> list[str]:
    """Return the `limit` best specific phrases, single words last.

    No phrase is part of another.
    """
    phrases: list[str] = []
    candidates = [_trim(phrase) for phrase in key_phrases(text, 40)]
    for phrase in sorted(
        filter(None, candidates), key=lambda phrase: " " not in phrase and "-" not in phrase
    ):
        stems = specific_stems(phrase)
        if (
            len(phrases) < limit
            and stems
            and not any(
                stems <= specific_stems(other) or specific_stems(other) <= stems
                for other in phrases
            )
        ):
            phrases.append(phrase)
    return phrases


def _trim(phrase: str) -> str:
    """Remove adverbs, leading general words and trailing verbs from a phrase."""
    parts = [part for part in phrase.split() if not part.endswith("ly")]
    while parts and not specific_stems(parts[0]):
        parts.pop(0)
    while parts and (
        (parts[-1].endswith("ing") and parts[-1] not in _NOUNS_IN_ING)
        or parts[-1] in _TRAILING_WORDS
    ):
        parts.pop()
    return " ".join(parts)


def mentions(stems_of_text: frozenset[str], phrase: str) -> bool:
    """Return whether a text with these stems has those of `phrase`.

    One stem of four or more may be missing.
    """
    phrase_stems = specific_stems(phrase)
    return len(phrase_stems - stems_of_text) <= (1 if len(phrase_stems) > 3 else 0)


def meaningful_words(text: str) -> list[str]:
    """Return the specific single words of `text` in order, unstemmed."""
    return [
        word
        for word in words(text)
        if word.isalpha()
        and word not in STOP_WORDS
        and not word.endswith("ly")
        and specific_stems(word)
    ]


QUERY_WORD_LIMIT = 7
"""ScholarEval B.2: seven words per query."""
SUBJECT_WORDS = 2


def phrase_queries(text: str, statements: Sequence[str], limit: int) -> list[list[str]]:
    """Return at most `limit` queries per statement about `text`.

    A query has at most seven words. Queries of a statement start with different key phrases of it,
    and are filled with the most frequent words of the text. A statement without specific words has
    no query; no two statements share a query.
    """
    frequency = stem_counts(text)
    by_salience = sorted(
        dict.fromkeys(meaningful_words(text)), key=lambda word: -salience(word, frequency)
    )
    subject = by_salience[:SUBJECT_WORDS]
    used_stems: set[frozenset[str]] = set()
    queries_by_statement = []
    for statement in statements:
        phrases = ranked_phrases(statement, frequency)
        queries: list[str] = []
        for start in range(len(phrases)):
            query = join_phrases([*phrases[start : start + 2], *subject], QUERY_WORD_LIMIT)
            if (
                len(queries) < limit
                and query
                and (stems := specific_stems(query)) not in used_stems
            ):
                used_stems.add(stems)
                queries.append(query)
        if not queries and (query := join_phrases([*phrases, *subject], QUERY_WORD_LIMIT)):
            queries.append(query)
        queries_by_statement.append(queries)
    return queries_by_statement


def ranked_phrases(text: str, frequency: Counter[str]) -> list[str]:
    """Return specific phrases of `text`, most frequent in the idea first."""
    phrases = specific_phrases(text, 8) or meaningful_words(text)[:4]
    return sorted(
        phrases, key=lambda phrase: -sum(salience(word, frequency) for word in phrase.split())
    )


def join_phrases(phrases: list[str], word_limit: int) -> str:
    """Join phrases within the limit, each stem once."""
    words_so_far: list[str] = []
    stems: set[str] = set()
    for phrase in phrases:
        new_words = [
            word
            for word in phrase.split()
            if not specific_stems(word) or not specific_stems(word) <= stems
        ]
        if len(words_so_far) + len(new_words) <= word_limit:
            words_so_far.extend(new_words)
            stems |= specific_stems(" ".join(new_words))
    return " ".join(words_so_far)
