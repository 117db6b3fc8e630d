"""Context of an evaluation, and reusable judgements of an earlier run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import PaperId, content_hash
from schemas.judgement.contribution import (
    Comparison,
    ContributionEvaluation,
    Dimension,
    EarlierJudgements,
)
from schemas.literature.paper import Paper
from schemas.outcome import Provenance
from schemas.profile import ContributionParameters
from tasks.contribution.steps.compare_paper import COMPARE_PAPER
from tasks.contribution.steps.extract_dimensions import EXTRACT_DIMENSIONS
from tasks.contribution.steps.relevance import RELEVANCE
from tasks.embeddings.similarity import Nearness
from tasks.judging.relevance import Judgement
from tasks.judging.step import Engine, Step
from tasks.literature.client import LiteratureClient
from tasks.text.words import Excerpt


def judged_before(earlier: ContributionEvaluation, papers: Sequence[Paper]) -> EarlierJudgements:
    """Return the scored judgements of an earlier evaluation.

    Args:
        papers: of that evaluation; judgements of papers with changed texts are not reused.
    """
    return EarlierJudgements(
        dimensions=earlier.dimensions,
        candidates=tuple(each for each in earlier.candidates if each.relevance_0_to_5 is not None),
        comparisons=tuple(each for each in earlier.comparisons if each.score is not None),
        paper_sha256={paper.paper_id: _sha256(paper) for paper in papers},
    )


class Before:
    """Judgements of an earlier run that were made by the same step on the same text."""

    def __init__(self, earlier: EarlierJudgements | None) -> None:
        self._texts = earlier.paper_sha256 if earlier else {}
        self._dimensions = earlier.dimensions if earlier else ()
        self._relevance = {each.paper_id: each for each in earlier.candidates} if earlier else {}
        self._comparisons: dict[tuple[PaperId, str, str], Comparison] = {
            (each.paper_id, each.dimension_id, each.dimension): each
            for each in (earlier.comparisons if earlier else ())
        }

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Dimensions of the idea; none if another version of the step extracted them."""
        dimensions = self._dimensions
        same = all(self._is_of(each.provenance, EXTRACT_DIMENSIONS) for each in dimensions)
        return dimensions if same else ()

    def relevance(self, paper: Paper) -> Judgement | None:
        candidate = self._relevance.get(paper.paper_id)
        if candidate is None or not self._stands(paper, candidate.provenance, RELEVANCE):
            return None
        return Judgement(
            candidate.relevance_0_to_5, candidate.rationale, provenance=candidate.provenance
        )

    def comparisons(self, paper: Paper, dimensions: Sequence[Dimension]) -> list[Comparison] | None:
        row = [
            self._comparisons.get((paper.paper_id, each.dimension_id, each.name))
            for each in dimensions
        ]
        comparisons = [each for each in row if each is not None]
        stands = all(self._stands(paper, each.provenance, COMPARE_PAPER) for each in comparisons)
        return comparisons if stands and len(comparisons) == len(row) else None

    def _stands(self, paper: Paper, provenance: Provenance | None, step: Step[Any, Any]) -> bool:
        return self._texts.get(paper.paper_id) == _sha256(paper) and self._is_of(provenance, step)

    def _is_of(self, provenance: Provenance | None, step: Step[Any, Any]) -> bool:
        return provenance is not None and (
            provenance.step,
            provenance.step_version,
            provenance.prompt_sha256,
        ) == (
            step.name,
            step.version,
            step.prompt_sha256,
        )


def _sha256(paper: Paper) -> str:
    return content_hash(paper.title, paper.abstract or "")


STAGE = "contribution"


@dataclass(frozen=True, slots=True)
class Context:
    """One idea under evaluation, and the tools.

    Attributes:
        plan: excerpt of the idea, equal in all prompts about papers.
    """

    idea: Idea
    plan: Excerpt
    parameters: ContributionParameters
    engine: Engine
    literature: LiteratureClient
    nearness: Nearness
    before: Before


def unasked_provenance_like(step: Step[Any, Any], like: Provenance) -> Provenance:
    """Return the provenance of an unasked `step`: the engine of `like`, without calls."""
    return replace(
        like,
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        model_answered=None,
        created_at=datetime.now(UTC),
        shortening=None,
        call_ids=(),
    )
