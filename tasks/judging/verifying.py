"""Check of citations against the stored texts of the papers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from schemas.base import replace as replace_noun
from schemas.failure import Failure, call_failures
from schemas.identifiers import PaperId
from schemas.judging import Wording
from schemas.literature.paper import Paper
from schemas.outcome import Unscored
from tasks.citations.keys import Shown, show
from tasks.citations.sentences import states
from tasks.citations.settle import CitingSentence, citing_sentences, settle
from tasks.judging.findings import CitedResult, SettledTexts, settle_texts
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
    """A sentence with its text, line and position, and the papers it may cite."""

    text: int
    line: int
    place: int
    sentence: CitingSentence
    may_cite: tuple[PaperId, ...]


def _may_cite(
    sentence: CitingSentence, prompt_papers: Shown, wording: Wording
) -> tuple[PaperId, ...]:
    """Return the papers that a sentence may cite; none where it is not checked."""
    if wording is Wording.OWN:
        return sentence.cited
    is_heading = sentence.text.lstrip().startswith("#")
    is_checked = sentence.cited or (states(sentence.text) and not is_heading)
    return tuple(paper.paper_id for paper in prompt_papers.papers) if is_checked else ()


def verifies(engine: Engine) -> bool:
    """Return whether verification makes sense: the offline engine only quotes stored texts."""
    return not reads_offline(engine)


async def verify(
    texts: Sequence[tuple[str, Shown]],
    stored_texts: Mapping[PaperId, str],
    engine: Engine,
    *,
    stage: str,
    wording: Wording = Wording.OWN,
) -> tuple[list[VerifiedText], tuple[Failure, ...]]:
    """Verify every sentence that cites a paper with stored text.

    A sentence without a verdict stays unchanged and is not counted as checked. In the published
    wording every statement is checked for missing and wrong citations (ScholarEval B.1.1, B.2.1):
    its words stay, and no sentence is removed.

    Args:
        texts: settled texts, each with the papers of its prompt.
        stored_texts: abstract, passages and sections by paper.
    """
    split_texts = [citing_sentences(markdown, prompt_papers) for markdown, prompt_papers in texts]
    papers = {paper.paper_id: paper for _, prompt_papers in texts for paper in prompt_papers.papers}
    claims = [
        _Claim(text, line, place, sentence, may_cite)
        for text, lines in enumerate(split_texts)
        for line, sentences in enumerate(lines)
        for place, sentence in enumerate(sentences)
        if (may_cite := _may_cite(sentence, texts[text][1], wording))
        and any(stored_texts.get(paper_id, "").strip() for paper_id in may_cite)
    ]
    batches = even_batches(claims, CLAIMS_PER_CALL)
    results = await side_by_side(
        _ask(batch, texts, papers, stored_texts, engine, wording) for batch in batches
    )
    verdicts: dict[int, dict[tuple[int, int], tuple[Verdict, str]]] = {}
    for result in results:
        for claim, verdict, correction in () if isinstance(result, Unscored) else result:
            of_text = verdicts.setdefault(claim.text, {})
            of_text[claim.line, claim.place] = (verdict, correction)
    verified_texts = [
        _rebuild(markdown, lines, verdicts.get(text, {}), wording)
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
    published: bool = False,
) -> tuple[list[CitedT], tuple[Failure, ...]]:
    """Verify the texts of `fields` in `reviews`; unscored reviews stay unchanged.

    Args:
        published: check as ScholarEval does; see `verify`.
    """
    wording = Wording.PUBLISHED if published else Wording.OWN
    scored_ids = {id(each) for each in reviews if getattr(each.value, each.value.REASON) is None}
    texts = [
        (getattr(each.value, name), each.prompt_papers)
        for each in reviews
        if id(each) in scored_ids
        for name in fields
    ]
    verified_texts, failures = await verify(
        texts, stored_texts, engine, stage=stage, wording=wording
    )
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
        uncited_before = settle_texts(each.value, fields, each.prompt_papers).uncited_sentence_count
        counts["uncited_sentence_count"] = (
            each.value.uncited_sentence_count
            - uncited_before
            + settled_texts.uncited_sentence_count
        )
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
    wording: Wording,
) -> list[_ClaimResult] | Unscored:
    shown_ids = dict.fromkeys(paper_id for claim in claims for paper_id in claim.may_cite)
    prompt_papers = show([papers[paper_id] for paper_id in shown_ids])
    sources = []
    for key, paper in prompt_papers:
        paper_id = paper.paper_id
        claim_text = " ".join(claim.sentence.text for claim in claims if paper_id in claim.may_cite)
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
        VERIFY_CITATIONS,
        VerifyInput(claims=shown_claims, sources=tuple(sources), wording=wording),
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
        (claim, answer.verdict, _correction(answer, claim, prompt_papers, wording))
        for number, claim in enumerate(claims, start=1)
        if (answer := answers.get(number)) is not None and answer.verdict is not None
    ]


def _correction(entry: ClaimVerdict, claim: _Claim, prompt_papers: Shown, wording: Wording) -> str:
    """Return the corrected sentence, without citations that it may not have; else empty.

    In the published wording it keeps its words.
    """
    if entry.verdict is Verdict.SUPPORTED or entry.verdict in UNDECIDED:
        return ""
    correction = settle(" ".join(entry.correction.split()), prompt_papers)
    cited_ids = {paper_id for paper_id, _ in correction.cited}
    if not cited_ids or not cited_ids <= set(claim.may_cite):
        return ""
    is_other_text = _letters(correction.markdown, prompt_papers) != _letters(
        claim.sentence.text, prompt_papers
    )
    return "" if wording is Wording.PUBLISHED and is_other_text else correction.markdown


def _letters(markdown: str, prompt_papers: Shown) -> str:
    """Return letters and digits of a text without its citations."""
    lines = citing_sentences(markdown, prompt_papers, lambda _: "")
    text = "".join(sentence.text for line in lines for sentence in line)
    return "".join(filter(str.isalnum, text))


def _rebuild(
    markdown: str,
    lines: list[list[CitingSentence]],
    verdicts: Mapping[tuple[int, int], tuple[Verdict, str]],
    wording: Wording,
) -> VerifiedText:
    """Rebuild the text with corrected sentences; Assay's own check removes unsupported ones."""
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
            elif verdict is Verdict.NOT and wording is Wording.OWN:
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
