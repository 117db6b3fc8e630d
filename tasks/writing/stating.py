"""Sentences that say in other words what works say: held against the stored passages by the engine,
then kept as claims of their own, corrected once, or taken out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.literature.naming import one_space
from schemas.outcome import Unscored
from schemas.text.patterns import bounded
from schemas.works.draft import ClaimKind, DraftClaim, DraftWork
from tasks.judging.packing import even_batches
from tasks.judging.step import Engine
from tasks.judging.steps import (
    VERIFY_CITATIONS,
    ClaimShown,
    ClaimVerdict,
    SourceShown,
    Verdict,
    VerifyInput,
)
from tasks.judging.verifying import CLAIMS_PER_CALL, WORDS_PER_SOURCE
from tasks.text.words import nearest_sentences
from tasks.writing.checking import numbers_in
from tasks.writing.sentences import cited_in, without_citations

_KEYS = bounded(r"\s{0,3}[\[(]P\d[^\[\]()]{0,80}[\])]")
MEANS = "what works say, in other words, held against their stored passages"


@dataclass(frozen=True, slots=True)
class Statements:
    """What became of sentences that cite, by sentence.

    Attributes:
        claims: of those that stand, as the passages carry them.
        refused: why the others do not.
    """

    claims: Mapping[str, DraftClaim]
    refused: Mapping[str, str]


async def hold(
    sentences: Sequence[str],
    works: Mapping[str, DraftWork],
    passages: Mapping[str, str],
    engine: Engine,
) -> Statements:
    """Hold every one of `sentences`, which cite works of the draft, against what is stored of them.

    Without a verdict a sentence does not stand: nothing says that it is carried.
    """
    claims: dict[str, DraftClaim] = {}
    refused: dict[str, str] = {}
    for batch in even_batches(list(dict.fromkeys(sentences)), CLAIMS_PER_CALL):
        verdicts = await _verdicts(batch, works, passages, engine)
        for sentence in batch:
            stored = "\n\n".join(passages.get(key, "") for key in cited_in(sentence))
            shown = _as_carried(sentence, verdicts.get(sentence))
            more = sorted({*numbers_in(shown)} - {*numbers_in(stored)}) if shown else []
            if not shown or not stored.strip():
                refused[sentence] = "no stored passage carries it"
            elif more:
                refused[sentence] = f"its passages hold no {', '.join(more)}"
            else:
                claims[sentence] = DraftClaim(
                    claim_key=f"said.{len(claims) + 1}",
                    kind=ClaimKind.STATEMENT,
                    means=MEANS,
                    shown=shown,
                    cited_keys=cited_in(sentence),
                    passage=stored,
                )
    return Statements(claims, refused)


def _as_carried(sentence: str, verdict: ClaimVerdict | None) -> str:
    """The sentence, or its correction; empty: nothing carries it."""
    if verdict is None or verdict.verdict is None or verdict.verdict is Verdict.NOT:
        return ""
    if verdict.verdict is Verdict.SUPPORTED:
        return one_space(without_citations(sentence))
    return one_space(without_citations(_KEYS.sub("", verdict.correction)))


async def _verdicts(
    sentences: Sequence[str],
    works: Mapping[str, DraftWork],
    passages: Mapping[str, str],
    engine: Engine,
) -> dict[str, ClaimVerdict]:
    keys = dict.fromkeys(key for sentence in sentences for key in cited_in(sentence))
    short = {key: f"P{number}" for number, key in enumerate(keys, start=1)}
    asked = tuple(
        ClaimShown(
            number=number,
            sentence=f"{without_citations(sentence)}"
            f" {' '.join(f'[{short[key]}]' for key in cited_in(sentence))}.",
        )
        for number, sentence in enumerate(sentences, start=1)
    )
    sources = []
    for key in keys:
        about = " ".join(each for each in sentences if key in cited_in(each))
        told, left = nearest_sentences(about, passages.get(key, ""), WORDS_PER_SOURCE)
        title = works[key].title
        sources.append(SourceShown(key=short[key], title=title, text=told, words_left_out=left))
    outcome = await engine.run(VERIFY_CITATIONS, VerifyInput(claims=asked, sources=tuple(sources)))
    if isinstance(outcome, Unscored):
        return {}
    given: dict[str, ClaimVerdict] = {}
    for verdict in outcome.value.claims:
        if 1 <= verdict.claim <= len(sentences):
            given.setdefault(sentences[verdict.claim - 1], verdict)
    return given
