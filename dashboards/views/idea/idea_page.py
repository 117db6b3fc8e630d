"""Values shared by the sections of an idea's report."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboards.render.page import Line, line
from dashboards.render.papers import citation
from dashboards.views.idea.closest_work import ClosestWork, closest_works
from dashboards.views.idea.first_page import FirstPage, first_page
from dashboards.views.idea.gaps import Gap, gaps_of
from dashboards.views.idea.plan_part import PlanPart, plan_part
from schemas.identifiers import PaperId
from schemas.judgement.contribution import ContributionReview, Dimension
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Method, SoundnessReview
from schemas.literature.paper import Paper
from warehouse.row_models import IdeaReview


@dataclass(frozen=True)
class IdeaPage:
    """A review with values that several sections show."""

    review: IdeaReview
    first: FirstPage
    plan: PlanPart | None
    closest: tuple[ClosestWork, ...]
    gaps: tuple[Gap, ...]

    @property
    def evaluation(self) -> IdeaEvaluation:
        return self.review.evaluation

    @cached_property
    def papers(self) -> dict[PaperId, Paper]:
        return {paper.paper_id: paper for paper in self.evaluation.papers}

    @property
    def methods(self) -> Sequence[tuple[Method, SoundnessReview | None]]:
        """The methods with their reviews, most important first."""
        soundness = self.evaluation.soundness
        if soundness is None:
            return ()
        reviews = {each.method_id: each for each in soundness.reviews}
        methods = sorted(soundness.methods, key=lambda method: method.rank)
        return [(method, reviews.get(method.method_id)) for method in methods]

    @property
    def dimensions(self) -> Sequence[tuple[Dimension, ContributionReview | None]]:
        """The dimensions with their reviews."""
        contribution = self.evaluation.contribution
        if contribution is None:
            return ()
        reviews = {each.dimension_id: each for each in contribution.reviews}
        return [(each, reviews.get(each.dimension_id)) for each in contribution.dimensions]

    def paper_link(self, paper_id: PaperId) -> Line:
        """Return the citation of a paper, linked."""
        paper = self.papers.get(paper_id)
        return line(citation(paper) if paper is not None else "unknown paper")


def idea_page(review: IdeaReview) -> IdeaPage:
    evaluation = review.evaluation
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    plan, gaps = plan_part(evaluation), gaps_of(evaluation)
    closest = closest_works(evaluation.contribution, papers)
    return IdeaPage(review, first_page(review, plan, closest, gaps), plan, closest, gaps)
