"""Verification of cited sentences against the stored texts of the papers."""

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
    UNDECIDED,
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
"""Words of a paper's text in the prompt: the sentences nearest to the claims about it."""


@dataclass(frozen=True, slots=True)
class VerifiedText:
    """A verified text, with counts of checked, corrected and undecided sentences, and the removed."""

    markdown: str
    checked: int = 0
    corrected: int = 0
    undecided: int = 0
    removed: tuple[str, ...] = ()

    @property
    def dropped(self) -> int:
        """Number of cited sentences that were removed."""
        return len(self.removed)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A cited sentence and its place: text, line, and position in the line."""

    text: int
    line: int
    place: int
    sentence: CitingSentence


def verifies(engine: Engine) -> bool:
    """Return whether verification makes sense: the offline engine only quotes stored texts."""
    return not reads_offline(engine)


async def verify(
    texts: Sequence[tuple[str, Shown]],
    stored_texts: Mapping[PaperId, str],
    engine: Engine,
    *,
    stage: str,
) -> tuple[list[VerifiedText], tuple[Failure, ...]]:
    """Verify every sentence of `texts` that cites a paper with a stored text.

    A sentence without a verdict stays unchanged and is not counted as checked.

    Args:
        texts: settled texts, each with the papers of its prompt.
        stored_texts: abstract, passages and sections by paper.
    """
    split_texts = [citing_sentences(markdown, prompt_papers) for markdown, prompt_papers in texts]
    papers = {paper.paper_id: paper for _, prompt_papers in texts for paper in prompt_papers.papers}
    claims = [
        _Claim(text, line, place, sentence)
        for text, lines in enumerate(split_texts)
        for line, sentences in enumerate(lines)
        for place, sentence in enumerate(sentences)
        if any(stored_texts.get(paper_id, "").strip() for paper_id in sentence.cited)
    ]
    batches = even_batches(claims, CLAIMS_PER_CALL)
    results = await side_by_side(
        _ask(batch, texts, papers, stored_texts, engine) for batch in batches
    )
    unscored_outcomes = [result for result in results if isinstance(result, Unscored)]
    verdicts = {
        (claim.text, claim.line, claim.place): (verdict, correction)
        for result in results
        if not isinstance(result, Unscored)
        for claim, verdict, correction in result
    }
    verified_texts = [
        _rebuild(
            markdown, lines, {key[1:]: value for key, value in verdicts.items() if key[0] == n}
        )
        for n, ((markdown, _), lines) in enumerate(zip(texts, split_texts, strict=True))
    ]
    return verified_texts, call_failures(unscored_outcomes, stage, VERIFY_CITATIONS.name)


async def verify_reviews(
    reviews: Sequence[CitedT],
    fields: Sequence[str],
    stored_texts: Mapping[PaperId, str],
    engine: Engine,
    *,
    stage: str,
    subject_of: Callable[[Any], str],
) -> tuple[list[CitedT], tuple[Failure, ...]]:
    """Verify the texts of `fields` in `reviews`; unscored reviews stay unchanged."""
    scored_reviews = [each for each in reviews if getattr(each.value, each.value.REASON) is None]
    texts = [
        (getattr(each.value, name), each.prompt_papers)
        for each in scored_reviews
        for name in fields
    ]
    verified_texts, failures = await verify(texts, stored_texts, engine, stage=stage)
    texts_in_order = iter(verified_texts)
    texts_of_review = {
        id(each): {name: next(texts_in_order) for name in fields} for each in scored_reviews
    }
    return [
        _with_texts(each, texts_of_review[id(each)], stage, subject_of(each.value))
        if id(each) in texts_of_review
        else each
        for each in reviews
    ], failures


def _with_texts(
    each: CitedT, verified_texts: Mapping[str, VerifiedText], module: str, subject: str
) -> CitedT:
    texts = SettledTexts(
        {name: settle(text.markdown, each.prompt_papers) for name, text in verified_texts.items()},
        each.prompt_papers,
    )
    row = replace_noun(
        each.value,
        **{name: text.markdown for name, text in verified_texts.items()},
        checked_sentence_count=sum(text.checked for text in verified_texts.values()),
        corrected_sentence_count=sum(text.corrected for text in verified_texts.values()),
        dropped_sentence_count=sum(text.dropped for text in verified_texts.values()),
        undecided_sentence_count=sum(text.undecided for text in verified_texts.values()),
    )
    others = (citation for citation in each.citations if citation.field not in verified_texts)
    citations = (*texts.citations(module=module, subject=subject), *others)
    return replace(each, value=row, citations=citations)


_ClaimResult = tuple[_Claim, Verdict, str]


async def _ask(
    claims: Sequence[_Claim],
    texts: Sequence[tuple[str, Shown]],
    papers: Mapping[PaperId, Paper],
    stored_texts: Mapping[PaperId, str],
    engine: Engine,
) -> list[_ClaimResult] | Unscored:
    cited_ids = dict.fromkeys(paper_id for claim in claims for paper_id in claim.sentence.cited)
    prompt_papers = show([papers[paper_id] for paper_id in cited_ids])
    sources = tuple(
        _source(key, paper, stored_texts.get(paper.paper_id, ""), claims)
        for key, paper in prompt_papers
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
    """Return the claims with a verdict; two different verdicts on one claim cancel each other.

    A correction counts only if it cites no other papers than its sentence.
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
    if entry.verdict is Verdict.SUPPORTED or entry.verdict in UNDECIDED:
        return ""
    correction = settle(" ".join(entry.correction.split()), prompt_papers)
    cited_ids = {paper_id for paper_id, _ in correction.cited}
    return correction.markdown if cited_ids and cited_ids <= set(sentence.cited) else ""


def _source(key: str, paper: Paper, text: str, claims: Sequence[_Claim]) -> SourceShown:
    claim_text = " ".join(
        claim.sentence.text for claim in claims if paper.paper_id in claim.sentence.cited
    )
    excerpt, words_left_out = nearest_sentences(claim_text, text, WORDS_PER_SOURCE)
    return SourceShown(key=key, title=paper.title, text=excerpt, words_left_out=words_left_out)


def _rebuild(
    markdown: str,
    lines: list[list[CitingSentence]],
    verdicts: Mapping[tuple[int, int], tuple[Verdict, str]],
) -> VerifiedText:
    """Rebuild the text with corrected sentences and without unsupported ones."""
    undecided_count = sum(verdict in UNDECIDED for verdict, _ in verdicts.values())
    result = VerifiedText(markdown, checked=len(verdicts), undecided=undecided_count)
    kept_lines: list[str] = []
    for number, sentences in enumerate(lines):
        line = ""
        for place, sentence in enumerate(sentences):
            verdict, correction = verdicts.get((number, place), (Verdict.SUPPORTED, ""))
            if correction:
                lead = sentence.text[: len(sentence.text) - len(sentence.text.lstrip())]
                line += lead + correction
                result = replace(result, corrected=result.corrected + 1)
            elif verdict is Verdict.NOT:
                removed_sentences = (*result.removed, sentence.text.strip())
                result = replace(result, removed=removed_sentences)
            else:
                line += sentence.text
        if line.strip() or not sentences:
            kept_lines.append(line)
    if not (result.corrected or result.dropped):
        return result
    return replace(result, markdown="\n".join(kept_lines).strip())
