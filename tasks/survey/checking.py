"""Holds what an engine wrote of works against what was read of them.

A statement stays where it cites, and where the works cited carry it; whatever else was written is
taken out, and kept beside the review with the reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.literature.survey_review import RemovedSentence, ReviewPart, SurveySection, WhyRemoved
from schemas.outcome import Outcome, Provenance, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown
from tasks.citations.sentences import states, uncited_sentence_count
from tasks.citations.settle import Settled, citing_sentences, settle
from tasks.judging.step import Engine
from tasks.judging.verifying import VerifiedText, verify
from tasks.survey.expanding import STAGE

_LISTS = {ReviewPart.CONTRADICTIONS: 2, ReviewPart.GAPS: 1}
"""Parts whose lines stand or fall whole, and how many works each line has to cite."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One section as it was written, or why it could not be.

    Attributes:
        text: None: nothing was written, for the reason of `unscored`.
        shown: the works that its engine was shown.
    """

    part: ReviewPart
    heading: str
    text: str | None
    shown: Shown
    provenance: Provenance
    unscored: Unscored | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    sections: tuple[SurveySection, ...]
    removed: tuple[RemovedSentence, ...]
    failures: tuple[Failure, ...]


def draft(
    part: ReviewPart, heading: str, outcome: Outcome[Any], text: str | None, shown: Shown
) -> Draft:
    unscored = outcome if isinstance(outcome, Unscored) else None
    return Draft(part, heading, text, shown, outcome.provenance, unscored)


async def check_drafts(
    drafts: Sequence[Draft],
    stored: Mapping[PaperId, str],
    engine: Engine,
    *,
    numbers: Iterable[int],
) -> Checked:
    """Check all `drafts` together.

    Args:
        stored: what was read, by work.
        numbers: of the sections within the review, one for each draft.
    """
    names = [f"s{number}" for number in numbers]
    settled = [settle(each.text or "", each.shown) for each in drafts]
    cited = [_cited_only(text.markdown, each) for text, each in zip(settled, drafts, strict=True)]
    verified, failures = await verify(
        [(text, each.shown) for (text, _), each in zip(cited, drafts, strict=True)],
        stored,
        engine,
        stage=STAGE,
    )
    sections: list[SurveySection] = []
    removed: list[RemovedSentence] = []
    rows = zip(names, drafts, settled, cited, verified, strict=True)
    for name, each, before, (text, uncited), after in rows:
        markdown, left = _cited_only(after.markdown, each)
        taken = {
            WhyRemoved.UNCITED: list[str](),
            WhyRemoved.ONE_SIDED: list[str](),
            WhyRemoved.UNSUPPORTED: list(after.removed),
        }
        for sentence, why in (*uncited, *left):
            taken[why].append(sentence)
        asks = each.part is ReviewPart.NOT_FOUND
        if markdown and not asks and not settle(markdown, each.shown).cited:
            taken[WhyRemoved.UNCITED].append(markdown)
            markdown = ""
        removed += [
            RemovedSentence(section_id=name, sentence=sentence, why=why)
            for why, sentences in taken.items()
            for sentence in sentences
        ]
        unchecked = max(
            sum(
                bool(sentence.cited)
                for line in citing_sentences(text, each.shown)
                for sentence in line
            )
            - after.checked,
            0,
        )
        sections.append(_section(name, each, markdown, before, after, taken, unchecked))
    return Checked(tuple(sections), tuple(removed), failures)


def _cited_only(markdown: str, each: Draft) -> tuple[str, list[tuple[str, WhyRemoved]]]:
    """The text without statements that cite too little, and those with the reason."""
    if each.part is ReviewPart.NOT_FOUND:
        return _questions_only(markdown)
    kept: list[str] = []
    removed: list[tuple[str, WhyRemoved]] = []
    least = _LISTS.get(each.part)
    for sentences in citing_sentences(markdown, each.shown):
        if least is not None:
            whole = "".join(sentence.text for sentence in sentences)
            works = {paper_id for sentence in sentences for paper_id in sentence.cited}
            if whole.strip() and len(works) < least:
                why = WhyRemoved.ONE_SIDED if works else WhyRemoved.UNCITED
                removed.append((whole.strip(), why))
            else:
                kept.append(whole)
            continue
        line = ""
        for sentence in sentences:
            if not sentence.cited and states(sentence.text.lstrip("# \t")):
                removed.append((sentence.text.strip(), WhyRemoved.UNCITED))
            else:
                line += sentence.text
        if line.strip() or not sentences:
            kept.append(line.strip())  # what stood first may be gone
    return "\n".join(kept).strip(), removed


def _questions_only(markdown: str) -> tuple[str, list[tuple[str, WhyRemoved]]]:
    """The lines that only ask: what states nothing need not cite."""
    lines = [line.strip() for line in markdown.splitlines() if line.strip()]
    kept = [line for line in lines if line.endswith("?") and not uncited_sentence_count(line)]
    return "\n".join(kept), [(line, WhyRemoved.UNCITED) for line in lines if line not in kept]


def _section(
    name: str,
    each: Draft,
    markdown: str,
    before: Settled,
    after: VerifiedText,
    taken: Mapping[WhyRemoved, Sequence[str]],
    unchecked: int,
) -> SurveySection:
    cited = [paper_id for paper_id, _ in settle(markdown, each.shown).cited]
    reason, detail = None, ""
    if each.unscored is not None:
        reason, detail = each.unscored.reason, each.unscored.detail
    elif not markdown:
        count = sum(len(texts) for texts in taken.values())
        reason = Reason.NO_EVIDENCE
        detail = (
            f"none of {count} statements is cited and carried by what was read"
            if count
            else "the engine named none"
        )
    return SurveySection(
        section_id=name,
        part=each.part,
        heading=each.heading,
        text=markdown,
        cited_paper_ids=tuple(cited),
        removed_citation_count=before.removed_citation_count,
        uncited_sentence_count=len(taken[WhyRemoved.UNCITED]),
        checked_sentence_count=after.checked,
        unchecked_sentence_count=unchecked if markdown else 0,
        corrected_sentence_count=after.corrected,
        dropped_sentence_count=after.dropped,
        undecided_sentence_count=after.undecided,
        unscored_reason=reason,
        unscored_detail=detail,
        provenance=each.provenance,
    )
