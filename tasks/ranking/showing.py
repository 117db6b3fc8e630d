"""Turns two dossiers into one question, with every paper of either under one key."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.committee import ReviewDimension
from tasks.citations.keys import Shown, show
from tasks.citations.labels import reference
from tasks.ranking.dossier import Dossier
from tasks.ranking.steps.compare_ideas import PairInput
from tasks.ranking.steps.shown import ShownCriterion, ShownEvidence, ShownIdea, ShownScore


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the papers its keys stand for."""

    question: PairInput
    papers: Shown


def pair_question(
    first: Dossier,
    second: Dossier,
    dimensions: Sequence[ReviewDimension],
    *,
    show_scores: bool = False,
) -> Asked:
    """Idea A is `first`. A paper that both dossiers hold has one key."""
    papers = show([entry.paper for dossier in (first, second) for entry in dossier.evidence])
    question = PairInput(
        first=_shown(first, papers, "A"),
        second=_shown(second, papers, "B"),
        show_scores=show_scores,
        dimensions=tuple(
            ShownCriterion(name=one.name, question=one.question, scale=one.scale)
            for one in dimensions
        ),
    )
    return Asked(question, papers)


def _shown(dossier: Dossier, papers: Shown, letter: str) -> ShownIdea:
    references = _references(papers)

    def keyed(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(_keyed(text, references) for text in texts)

    return ShownIdea(
        title=dossier.title,
        text=dossier.text,
        summary=_keyed(dossier.summary, references),
        claims=dossier.claims,
        strengths=keyed(dossier.strengths),
        weaknesses=keyed(dossier.weaknesses),
        module_scores=tuple(
            ShownScore(name=one.module, score_0_to_10=one.score_0_to_10)
            for one in sorted(dossier.module_scores, key=lambda one: one.module)
            if one.score_0_to_10 is not None
        ),
        dimension_scores=tuple(
            ShownScore(name=name, score_0_to_10=mean)
            for name, mean in sorted(dossier.dimension_means.items())
        ),
        evidence=tuple(
            ShownEvidence(
                key=papers.key_of(entry.paper.paper_id),
                title=entry.paper.title,
                year=entry.paper.year,
                idea=letter,
                bearing=entry.bearing,
                text=_keyed(entry.text, references),
            )
            for entry in dossier.evidence
        ),
    )


def _references(papers: Shown) -> list[tuple[str, str]]:
    """(rendered reference, key), the longest first; papers that render alike cannot be told apart and keep no entry."""
    rendered: dict[str, list[str]] = {}
    for key, paper in papers:
        rendered.setdefault(reference(paper), []).append(key)
    unambiguous = [(text, keys[0]) for text, keys in rendered.items() if len(keys) == 1]
    return sorted(unambiguous, key=lambda pair: -len(pair[0]))


def _keyed(text: str, references: Sequence[tuple[str, str]]) -> str:
    """`text` with rendered citations of shown papers as keys; those of papers that are not shown stay as text."""
    for rendered, key in references:
        text = text.replace(rendered, f"[{key}]")
    return text
