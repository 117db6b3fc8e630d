"""What an earlier run of the same engine judged of papers, as far as it stands: the same paper by
the same step.
"""

from collections.abc import Sequence
from typing import Any

from schemas.identifiers import PaperId, content_hash
from schemas.judgement.contribution import (
    Comparison,
    ContributionEvaluation,
    Dimension,
    JudgedBefore,
)
from schemas.literature.paper import Paper
from schemas.outcome import Provenance
from tasks.contribution.steps.compare_paper import COMPARE_PAPER
from tasks.contribution.steps.extract_dimensions import EXTRACT_DIMENSIONS
from tasks.contribution.steps.relevance import RELEVANCE
from tasks.judging.relevance import Judgement
from tasks.judging.step import Step


def judged_before(earlier: ContributionEvaluation, papers: Sequence[Paper]) -> JudgedBefore:
    """What of an earlier evaluation may stand.

    Args:
        papers: of that evaluation, as they were.
    """
    return JudgedBefore(
        dimensions=earlier.dimensions,
        candidates=tuple(each for each in earlier.candidates if each.relevance_0_to_5 is not None),
        comparisons=tuple(each for each in earlier.comparisons if each.score is not None),
        paper_sha256={paper.paper_id: _sha256(paper) for paper in papers},
    )


class Before:
    """Judgements of an earlier run; without one nothing is known."""

    def __init__(self, judged: JudgedBefore | None) -> None:
        self._texts = judged.paper_sha256 if judged else {}
        self._dimensions = judged.dimensions if judged else ()
        self._relevance = {each.paper_id: each for each in judged.candidates} if judged else {}
        self._comparisons: dict[tuple[PaperId, str, str], Comparison] = {
            (each.paper_id, each.dimension_id, each.dimension): each
            for each in (judged.comparisons if judged else ())
        }

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The idea's dimensions; none where another version of the step named them."""
        named = self._dimensions
        same = all(self._is_of(each.provenance, EXTRACT_DIMENSIONS) for each in named)
        return named if same else ()

    def relevance(self, paper: Paper) -> Judgement | None:
        """How relevant the paper was found; None: it has to be judged."""
        known = self._relevance.get(paper.paper_id)
        if known is None or not self._stands(paper, known.provenance, RELEVANCE):
            return None
        return Judgement(known.relevance_0_to_5, known.rationale, provenance=known.provenance)

    def comparisons(self, paper: Paper, dimensions: Sequence[Dimension]) -> list[Comparison] | None:
        """The paper along every one of `dimensions`; None: it has to be compared."""
        row = [
            self._comparisons.get((paper.paper_id, each.dimension_id, each.name))
            for each in dimensions
        ]
        known = [each for each in row if each is not None]
        stands = all(self._stands(paper, each.provenance, COMPARE_PAPER) for each in known)
        return known if stands and len(known) == len(row) else None

    def _stands(self, paper: Paper, made: Provenance | None, step: Step[Any, Any]) -> bool:
        return self._texts.get(paper.paper_id) == _sha256(paper) and self._is_of(made, step)

    def _is_of(self, made: Provenance | None, step: Step[Any, Any]) -> bool:
        return made is not None and (made.step, made.step_version, made.prompt_sha256) == (
            step.name,
            step.version,
            step.prompt_sha256,
        )


def _sha256(paper: Paper) -> str:
    return content_hash(paper.title, paper.abstract or "")
