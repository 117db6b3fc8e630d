"""Citation checks of survey drafts.

A statement is kept if it cites works and the text read of these works supports it. Removed
statements are stored with the reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.failure import Failure, call_failures
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
"""Works that each line has to cite in parts whose lines are kept or removed whole."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One section of a survey before the checks.

    Attributes:
        text: None if the section was not written (see `unscored`).
        prompt_papers: works in the prompt of the section.
    """

    part: ReviewPart
    heading: str
    text: str | None
    prompt_papers: Shown
    provenance: Provenance
    unscored: Unscored | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    sections: tuple[SurveySection, ...]
    removed: tuple[RemovedSentence, ...]
    failures: tuple[Failure, ...]


def draft(
    part: ReviewPart, heading: str, outcome: Outcome[Any], text: str | None, prompt_papers: Shown
) -> Draft:
    unscored_outcome = outcome if isinstance(outcome, Unscored) else None
    return Draft(part, heading, text, prompt_papers, outcome.provenance, unscored_outcome)


async def check_drafts(
    drafts: Sequence[Draft],
    stored_texts: Mapping[PaperId, str],
    engine: Engine,
    *,
    numbers: Iterable[int],
) -> Checked:
    """Check all `drafts` together; parts of one reply that failed have one failure.

    Args:
        stored_texts: text read, by work.
        numbers: section numbers within the review, one for each draft.
    """
    names = [f"s{number}" for number in numbers]
    settled_texts = [settle(each.text or "", each.prompt_papers) for each in drafts]
    cited_texts = [
        _remove_uncited(text.markdown, each)
        for text, each in zip(settled_texts, drafts, strict=True)
    ]
    verified_texts, failures = await verify(
        [(text, each.prompt_papers) for (text, _), each in zip(cited_texts, drafts, strict=True)],
        stored_texts,
        engine,
        stage=STAGE,
    )
    sections: list[SurveySection] = []
    removed_sentences: list[RemovedSentence] = []
    rows = zip(names, drafts, settled_texts, cited_texts, verified_texts, strict=True)
    for name, each, before, (text, uncited_sentences), after in rows:
        markdown, still_uncited = _remove_uncited(after.markdown, each)
        removed_by_reason = {
            WhyRemoved.UNCITED: list[str](),
            WhyRemoved.ONE_SIDED: list[str](),
            WhyRemoved.UNSUPPORTED: list(after.removed),
        }
        for sentence, reason in (*uncited_sentences, *still_uncited):
            removed_by_reason[reason].append(sentence)
        is_question_list = each.part is ReviewPart.NOT_FOUND
        if markdown and not is_question_list and not settle(markdown, each.prompt_papers).cited:
            removed_by_reason[WhyRemoved.UNCITED].append(markdown)
            markdown = ""
        removed_sentences += [
            RemovedSentence(section_id=name, sentence=sentence, why=reason)
            for reason, sentences in removed_by_reason.items()
            for sentence in sentences
        ]
        lines = citing_sentences(text, each.prompt_papers)
        cited_count = sum(bool(sentence.cited) for line in lines for sentence in line)
        unchecked_count = max(cited_count - after.checked, 0)
        sections.append(
            _section(name, each, markdown, before, after, removed_by_reason, unchecked_count)
        )
    write_failures: list[Failure] = []
    for place, each in enumerate(drafts):
        unscored_call = each.unscored
        if unscored_call is not None and all(
            unscored_call is not one.unscored for one in drafts[:place]
        ):
            write_failures += call_failures([unscored_call], STAGE, f"section “{each.heading}”")
    return Checked(tuple(sections), tuple(removed_sentences), (*write_failures, *failures))


def _remove_uncited(markdown: str, each: Draft) -> tuple[str, list[tuple[str, WhyRemoved]]]:
    """Remove statements that cite too few works; return the rest and the removed with reasons."""
    if each.part is ReviewPart.NOT_FOUND:
        # A question states nothing that needs a citation; lines that only ask are kept.
        lines = [line.strip() for line in markdown.splitlines() if line.strip()]
        question_flags = [line.endswith("?") and not uncited_sentence_count(line) for line in lines]
        questions = [
            line for line, only_asks in zip(lines, question_flags, strict=True) if only_asks
        ]
        other_lines = [
            line for line, only_asks in zip(lines, question_flags, strict=True) if not only_asks
        ]
        return "\n".join(questions), [(line, WhyRemoved.UNCITED) for line in other_lines]
    kept_lines: list[str] = []
    removed_statements: list[tuple[str, WhyRemoved]] = []
    least_works = _LISTS.get(each.part)
    for sentences in citing_sentences(markdown, each.prompt_papers):
        if least_works is not None:
            joined_text = "".join(sentence.text for sentence in sentences)
            cited_ids = {paper_id for sentence in sentences for paper_id in sentence.cited}
            if joined_text.strip() and len(cited_ids) < least_works:
                reason = WhyRemoved.ONE_SIDED if cited_ids else WhyRemoved.UNCITED
                removed_statements.append((joined_text.strip(), reason))
            else:
                kept_lines.append(joined_text)
            continue
        line = ""
        for sentence in sentences:
            if not sentence.cited and states(sentence.text.lstrip("# \t")):
                removed_statements.append((sentence.text.strip(), WhyRemoved.UNCITED))
            else:
                line += sentence.text
        if line.strip() or not sentences:
            kept_lines.append(line.strip())  # The first sentence may have been removed.
    return "\n".join(kept_lines).strip(), removed_statements


def _section(
    name: str,
    each: Draft,
    markdown: str,
    settled: Settled,
    verified: VerifiedText,
    removed_by_reason: Mapping[WhyRemoved, Sequence[str]],
    unchecked_count: int,
) -> SurveySection:
    cited_ids = [paper_id for paper_id, _ in settle(markdown, each.prompt_papers).cited]
    reason, detail = None, ""
    if each.unscored is not None:
        reason, detail = each.unscored.reason, each.unscored.detail
    elif not markdown:
        count = sum(len(texts) for texts in removed_by_reason.values())
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
        cited_paper_ids=tuple(cited_ids),
        removed_citation_count=settled.removed_citation_count,
        uncited_sentence_count=len(removed_by_reason[WhyRemoved.UNCITED]),
        checked_sentence_count=verified.checked,
        unchecked_sentence_count=unchecked_count if markdown else 0,
        corrected_sentence_count=verified.corrected,
        dropped_sentence_count=verified.dropped,
        undecided_sentence_count=verified.undecided,
        unscored_reason=reason,
        unscored_detail=detail,
        provenance=each.provenance,
    )
