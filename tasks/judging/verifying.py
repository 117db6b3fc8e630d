"""Cited sentences held against the stored texts they cite: kept, corrected once, or taken out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from schemas.base import replace as replace_noun
from schemas.failure import Failure, call_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.outcome import Unscored
from tasks.citations.keys import Shown, show
from tasks.citations.settle import CitingSentence, citing_sentences, settle
from tasks.judging.findings import CitedResult, SettledTexts
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.step import Engine, reads_offline
from tasks.judging.steps import (
    VERIFY_CITATIONS,
    ClaimShown,
    ClaimVerdict,
    SourceShown,
    Verdict,
    VerifyInput,
)
from tasks.text.words import nearest_sentences

CitedT = TypeVar("CitedT", bound=CitedResult[Any])

CLAIMS_PER_CALL = 40
WORDS_PER_SOURCE = 90
"""Of the stored text of a paper, the sentences nearest to the claims about it."""


@dataclass(frozen=True, slots=True)
class VerifiedText:
    """A settled text after the check: how many of its cited sentences were checked and corrected,
    and those that were taken out.
    """

    markdown: str
    checked: int = 0
    corrected: int = 0
    removed: tuple[str, ...] = ()

    @property
    def dropped(self) -> int:
        """Return how many cited sentences were taken out."""
        return len(self.removed)


@dataclass(frozen=True, slots=True)
class _Claim:
    """Place of a sentence, and its text with the keys of its call."""

    text: int
    line: int
    place: int
    sentence: CitingSentence


def verifies(engine: Engine) -> bool:
    """Return whether there is anything to check: the offline engine only quotes stored texts."""
    return not reads_offline(engine)


async def verify(
    texts: Sequence[tuple[str, Shown]],
    stored: Mapping[PaperId, str],
    engine: Engine,
    *,
    stage: str,
) -> tuple[list[VerifiedText], tuple[Failure, ...]]:
    """Check every sentence of `texts` that cites a paper with a stored text.

    A sentence without a verdict stays as it is and is not counted as checked; calls without an
    answer are failures.

    Args:
        texts: settled texts, each with what it was settled against.
        stored: abstract, passages and sections by paper.
    """
    split_texts = [citing_sentences(markdown, prompt_papers) for markdown, prompt_papers in texts]
    papers = {paper.paper_id: paper for _, prompt_papers in texts for paper in prompt_papers.papers}
    claims = [
        _Claim(text, line, place, sentence)
        for text, lines in enumerate(split_texts)
        for line, sentences in enumerate(lines)
        for place, sentence in enumerate(sentences)
        if any(stored.get(paper_id, "").strip() for paper_id in sentence.cited)
    ]
    batches = even_batches(claims, CLAIMS_PER_CALL)
    results = await side_by_side(_ask(batch, texts, papers, stored, engine) for batch in batches)
    unscored = [result for result in results if isinstance(result, Unscored)]
    settled = {
        (claim.text, claim.line, claim.place): (verdict, correction)
        for result in results
        if not isinstance(result, Unscored)
        for claim, verdict, correction in result
    }
    verified = [
        _rebuild(markdown, lines, {key[1:]: value for key, value in settled.items() if key[0] == n})
        for n, ((markdown, _), lines) in enumerate(zip(texts, split_texts, strict=True))
    ]
    return verified, call_failures(unscored, stage, VERIFY_CITATIONS.name)


async def verify_reviews(
    reviews: Sequence[CitedT],
    fields: Sequence[str],
    stored: Mapping[PaperId, str],
    engine: Engine,
    *,
    stage: str,
    subject_of: Callable[[Any], str],
) -> tuple[list[CitedT], tuple[Failure, ...]]:
    """`reviews` with the texts of `fields` as the stored texts carry them; unscored ones stay."""
    scored_reviews = [each for each in reviews if getattr(each.value, each.value.REASON) is None]
    texts = [
        (getattr(each.value, name), each.prompt_papers)
        for each in scored_reviews
        for name in fields
    ]
    verified, failures = await verify(texts, stored, engine, stage=stage)
    texts_in_order = iter(verified)
    checked = {id(each): {name: next(texts_in_order) for name in fields} for each in scored_reviews}
    return [
        _with_texts(each, checked[id(each)], stage, subject_of(each.value))
        if id(each) in checked
        else each
        for each in reviews
    ], failures


def _with_texts(
    each: CitedT, verified: Mapping[str, VerifiedText], module: str, subject: str
) -> CitedT:
    texts = SettledTexts(
        {name: settle(text.markdown, each.prompt_papers) for name, text in verified.items()},
        each.prompt_papers,
    )
    row = replace_noun(
        each.value,
        **{name: text.markdown for name, text in verified.items()},
        checked_sentence_count=sum(text.checked for text in verified.values()),
        corrected_sentence_count=sum(text.corrected for text in verified.values()),
        dropped_sentence_count=sum(text.dropped for text in verified.values()),
    )
    others = (cited for cited in each.citations if cited.field not in verified)
    citations = (*texts.citations(module=module, subject=subject), *others)
    return replace(each, value=row, citations=citations)


_ClaimResult = tuple[_Claim, Verdict, str]


async def _ask(
    claims: Sequence[_Claim],
    texts: Sequence[tuple[str, Shown]],
    papers: Mapping[PaperId, Paper],
    stored: Mapping[PaperId, str],
    engine: Engine,
) -> list[_ClaimResult] | Unscored:
    cited_ids = dict.fromkeys(paper_id for claim in claims for paper_id in claim.sentence.cited)
    prompt_papers = show([papers[paper_id] for paper_id in cited_ids])
    sources = tuple(
        _source(key, paper, stored.get(paper.paper_id, ""), claims) for key, paper in prompt_papers
    )
    keys = {paper.paper_id: f"[{key}]" for key, paper in prompt_papers}
    keyed_sentences = {
        text: citing_sentences(*texts[text], lambda paper: keys.get(paper.paper_id, ""))
        for text in {claim.text for claim in claims}
    }
    shown_claims = tuple(
        ClaimShown(
            number=number,
            sentence=keyed_sentences[claim.text][claim.line][claim.place].text.strip(),
        )
        for number, claim in enumerate(claims, start=1)
    )
    outcome = await engine.run(VERIFY_CITATIONS, VerifyInput(claims=shown_claims, sources=sources))
    if isinstance(outcome, Unscored):
        return outcome
    return settle_verdicts(claims, outcome.value.claims, prompt_papers)


def settle_verdicts(
    claims: Sequence[_Claim], verdicts: Iterable[ClaimVerdict], prompt_papers: Shown
) -> list[_ClaimResult]:
    """The claims with a verdict: of two different verdicts on one neither counts.

    A correction is one line that cites only what its sentence cited, else it is none.
    """
    verdict_of: dict[int, ClaimVerdict | None] = {}
    for entry in verdicts:
        if entry.verdict is not None and 1 <= entry.claim <= len(claims):
            same = verdict_of.get(entry.claim, entry) == entry
            verdict_of[entry.claim] = entry if same else None
    answers = [(claim, verdict_of.get(number)) for number, claim in enumerate(claims, start=1)]
    return [
        (claim, answer.verdict, _correction(answer, claim.sentence, prompt_papers))
        for claim, answer in answers
        if answer is not None and answer.verdict is not None
    ]


def _correction(entry: ClaimVerdict, sentence: CitingSentence, prompt_papers: Shown) -> str:
    if entry.verdict is Verdict.SUPPORTED:
        return ""
    settled = settle(" ".join(entry.correction.split()), prompt_papers)
    cited_ids = {paper_id for paper_id, _ in settled.cited}
    return settled.markdown if cited_ids and cited_ids <= set(sentence.cited) else ""


def _source(key: str, paper: Paper, text: str, claims: Sequence[_Claim]) -> SourceShown:
    claim_text = " ".join(
        claim.sentence.text for claim in claims if paper.paper_id in claim.sentence.cited
    )
    excerpt, words_left_out = nearest_sentences(claim_text, text, WORDS_PER_SOURCE)
    return SourceShown(key=key, title=paper.title, text=excerpt, words_left_out=words_left_out)


def _rebuild(
    markdown: str,
    lines: list[list[CitingSentence]],
    settled: Mapping[tuple[int, int], tuple[Verdict, str]],
) -> VerifiedText:
    """The text with corrections in place of what they correct, without what is not supported."""
    verified = VerifiedText(markdown, checked=len(settled))
    kept_lines: list[str] = []
    for number, sentences in enumerate(lines):
        line = ""
        for place, sentence in enumerate(sentences):
            verdict, correction = settled.get((number, place), (Verdict.SUPPORTED, ""))
            if correction:
                lead = sentence.text[: len(sentence.text) - len(sentence.text.lstrip())]
                line += lead + correction
                verified = replace(verified, corrected=verified.corrected + 1)
            elif verdict is Verdict.NOT:
                removed = (*verified.removed, sentence.text.strip())
                verified = replace(verified, removed=removed)
            else:
                line += sentence.text
        if line.strip() or not sentences:
            kept_lines.append(line)
    if not (verified.corrected or verified.dropped):
        return verified
    return replace(verified, markdown="\n".join(kept_lines).strip())
