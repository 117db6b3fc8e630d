"""Verification of cited sentences against the stored texts of the papers."""

from collections.abc import Callable, Mapping, Sequence
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
    """A verified text, with its removed sentences and counts.

    The counts are of checked, corrected and undecided sentences.
    """

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
    """A cited sentence with its text, line, and position."""

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
    """Verify every sentence that cites a paper with stored text.

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
    verdicts: dict[int, dict[tuple[int, int], tuple[Verdict, str]]] = {}
    for result in results:
        for claim, verdict, correction in () if isinstance(result, Unscored) else result:
            of_text = verdicts.setdefault(claim.text, {})
            of_text[claim.line, claim.place] = (verdict, correction)
    verified_texts = [
        _rebuild(markdown, lines, verdicts.get(text, {}))
        for text, ((markdown, _), lines) in enumerate(zip(texts, split_texts, strict=True))
    ]
    unscored_outcomes = [result for result in results if isinstance(result, Unscored)]
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
    scored_ids = {id(each) for each in reviews if getattr(each.value, each.value.REASON) is None}
    texts = [
        (getattr(each.value, name), each.prompt_papers)
        for each in reviews
        if id(each) in scored_ids
        for name in fields
    ]
    verified_texts, failures = await verify(texts, stored_texts, engine, stage=stage)
    texts_in_order = iter(verified_texts)
    verified_reviews = []
    for each in reviews:
        if id(each) not in scored_ids:
            verified_reviews.append(each)
            continue
        by_field = {name: next(texts_in_order) for name in fields}
        settled_texts = SettledTexts(
            {name: settle(text.markdown, each.prompt_papers) for name, text in by_field.items()},
            each.prompt_papers,
        )
        counts = {
            f"{kind}_sentence_count": sum(getattr(text, kind) for text in by_field.values())
            for kind in ("checked", "corrected", "dropped", "undecided")
        }
        row = replace_noun(
            each.value, **{name: text.markdown for name, text in by_field.items()}, **counts
        )
        others = (citation for citation in each.citations if citation.field not in by_field)
        citations = settled_texts.citations(module=stage, subject=subject_of(each.value))
        verified_reviews.append(replace(each, value=row, citations=(*citations, *others)))
    return verified_reviews, failures


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
    sources = []
    for key, paper in prompt_papers:
        paper_id = paper.paper_id
        claim_text = " ".join(
            claim.sentence.text for claim in claims if paper_id in claim.sentence.cited
        )
        text, words_left_out = nearest_sentences(
            claim_text, stored_texts.get(paper_id, ""), WORDS_PER_SOURCE
        )
        sources.append(
            SourceShown(key=key, title=paper.title, text=text, words_left_out=words_left_out)
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
    outcome = await engine.run(
        VERIFY_CITATIONS, VerifyInput(claims=shown_claims, sources=tuple(sources))
    )
    if isinstance(outcome, Unscored):
        return outcome
    answers: dict[int, ClaimVerdict | None] = {}
    for entry in outcome.value.claims:
        if entry.verdict is not None and 1 <= entry.claim <= len(claims):
            # Two different verdicts on one claim cancel each other.
            same = answers.get(entry.claim, entry) == entry
            answers[entry.claim] = entry if same else None
    return [
        (claim, answer.verdict, _correction(answer, claim.sentence, prompt_papers))
        for number, claim in enumerate(claims, start=1)
        if (answer := answers.get(number)) is not None and answer.verdict is not None
    ]


def _correction(entry: ClaimVerdict, sentence: CitingSentence, prompt_papers: Shown) -> str:
    """Return the corrected sentence, with no citations beyond the original's."""
    if entry.verdict is Verdict.SUPPORTED or entry.verdict in UNDECIDED:
        return ""
    correction = settle(" ".join(entry.correction.split()), prompt_papers)
    cited_ids = {paper_id for paper_id, _ in correction.cited}
    return correction.markdown if cited_ids and cited_ids <= set(sentence.cited) else ""


def _rebuild(
    markdown: str,
    lines: list[list[CitingSentence]],
    verdicts: Mapping[tuple[int, int], tuple[Verdict, str]],
) -> VerifiedText:
    """Rebuild the text with corrected sentences and without unsupported ones."""
    corrected_count, removed_sentences = 0, []
    kept_lines: list[str] = []
    for number, sentences in enumerate(lines):
        line = ""
        for place, sentence in enumerate(sentences):
            verdict, correction = verdicts.get((number, place), (Verdict.SUPPORTED, ""))
            if correction:
                lead = sentence.text[: len(sentence.text) - len(sentence.text.lstrip())]
                line += lead + correction
                corrected_count += 1
            elif verdict is Verdict.NOT:
                removed_sentences.append(sentence.text.strip())
            else:
                line += sentence.text
        if line.strip() or not sentences:
            kept_lines.append(line)
    return VerifiedText(
        "\n".join(kept_lines).strip() if corrected_count or removed_sentences else markdown,
        checked=len(verdicts),
        corrected=corrected_count,
        undecided=sum(verdict in UNDECIDED for verdict, _ in verdicts.values()),
        removed=tuple(removed_sentences),
    )
