"""Context of an evaluation, and reusable judgements of an earlier run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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

STAGE = "contribution"


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


_NO_JUDGEMENTS = EarlierJudgements(dimensions=(), candidates=(), comparisons=(), paper_sha256={})


class Before:
    """Judgements of an earlier run that were made by the same step on the same text."""

    def __init__(self, earlier: EarlierJudgements | None) -> None:
        self._earlier = earlier or _NO_JUDGEMENTS
        self._relevance = {each.paper_id: each for each in self._earlier.candidates}
        self._comparisons: dict[tuple[PaperId, str, str], Comparison] = {
            (each.paper_id, each.dimension_id, each.dimension): each
            for each in self._earlier.comparisons
        }

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Dimensions of the idea.

        There are none if another version of the step extracted them.
        """
        dimensions = self._earlier.dimensions
        is_same_step = all(_is_of(each.provenance, EXTRACT_DIMENSIONS) for each in dimensions)
        return dimensions if is_same_step else ()

    def relevance(self, paper: Paper) -> Judgement | None:
        candidate = self._relevance.get(paper.paper_id)
        if candidate is None or not self._stands(paper, candidate.provenance, RELEVANCE):
            return None
        return Judgement(
            candidate.relevance_0_to_5, candidate.rationale, provenance=candidate.provenance
        )

    def comparisons(self, paper: Paper, dimensions: Sequence[Dimension]) -> list[Comparison] | None:
        """Return the comparisons of `paper` along all `dimensions`.

        Returns None if one is missing.
        """
        row = [
            self._comparisons.get((paper.paper_id, each.dimension_id, each.name))
            for each in dimensions
        ]
        comparisons = [each for each in row if each is not None]
        is_reusable = all(
            self._stands(paper, each.provenance, COMPARE_PAPER) for each in comparisons
        )
        return comparisons if is_reusable and len(comparisons) == len(row) else None

    def _stands(self, paper: Paper, provenance: Provenance | None, step: Step[Any, Any]) -> bool:
        same_text = self._earlier.paper_sha256.get(paper.paper_id) == _sha256(paper)
        return same_text and _is_of(provenance, step)


def _is_of(provenance: Provenance | None, step: Step[Any, Any]) -> bool:
    return provenance is not None and (
        provenance.step,
        provenance.step_version,
        provenance.prompt_sha256,
    ) == (step.name, step.version, step.prompt_sha256)


def _sha256(paper: Paper) -> str:
    return content_hash(paper.title, paper.abstract or "")


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
