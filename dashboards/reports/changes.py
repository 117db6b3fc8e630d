"""What changed for ideas that a run evaluated again: scores, verdicts, and closest prior work."""

from collections.abc import Mapping
from dataclasses import dataclass

from dashboards.reports import figures
from dashboards.reports.closest_work import ClosestWork, closest_works
from dashboards.reports.idea_page import idea_page
from dashboards.reports.papers import paper_link
from schemas.base import Noun
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.paper import Paper
from schemas.run import Run
from warehouse.answers import IdeaReview
from warehouse.queries import Queries

_PARTS = ("score", "soundness_0_to_10", "contribution_0_to_10", "committee_0_to_10")
_PARTS_BESIDE = ("novelty_1_to_5",)


class NearWork(Noun):
    """One of the closest works; `paper` is a Markdown link."""

    paper: str
    title: str
    overlaps: str
    remains: str
    is_new: bool


class ScoreChange(Noun):
    """A score before and after; None: there was none."""

    name: str
    before: float | None
    after: float | None

    @property
    def told(self) -> str:
        """Both, or one where they are the same."""
        if self.before == self.after:
            return figures.mean(self.after)
        return f"{figures.mean(self.before)} → {figures.mean(self.after)}"


class IdeaChange(Noun):
    """One idea in both runs; `come` and `gone` are works among the closest in one of them only."""

    idea_id: IdeaId
    title: str
    verdict_before: str
    verdict_after: str
    scores: tuple[ScoreChange, ...]
    new_paper_count: int
    newly_judged_count: int
    judged_count: int
    come: tuple[NearWork, ...]
    gone: tuple[NearWork, ...]

    def told(self, name: str) -> str:
        """A score before and after; a dash where the idea has none in either run."""
        return next((each.told for each in self.scores if each.name == name), "–")

    @property
    def changed(self) -> bool:
        """Whether a reader has anything to look at."""
        scores = any(each.before != each.after for each in self.scores)
        return scores or self.verdict_before != self.verdict_after or bool(self.come or self.gone)


@dataclass(frozen=True, slots=True)
class Changes:
    """Of a run that evaluated ideas again; `before` None: the earlier run is gone."""

    before_id: RunId
    before: Run | None
    ideas: tuple[IdeaChange, ...]

    @property
    def score_names(self) -> list[str]:
        """Those that any idea has, in their order."""
        return list(dict.fromkeys(each.name for idea in self.ideas for each in idea.scores))

    @property
    def changed(self) -> tuple[IdeaChange, ...]:
        """The ideas of which something changed."""
        return tuple(each for each in self.ideas if each.changed)


def changes_of(queries: Queries, run: Run) -> Changes | None:
    """None: the run evaluated nothing again."""
    if run.again_run_id is None:
        return None
    try:
        before = queries.run(run.again_run_id)
    except UnknownNameError:
        return Changes(run.again_run_id, None, ())
    earlier = {
        review.evaluation.idea.idea_id: review for review in queries.idea_reviews(before.run_id)
    }
    later = queries.idea_reviews(run.run_id)
    found = (
        _change(earlier[idea_id], review)
        for review in later
        if (idea_id := review.evaluation.idea.idea_id) in earlier
    )
    return Changes(before.run_id, before, tuple(found))


def _change(before: IdeaReview, after: IdeaReview) -> IdeaChange:
    known = {paper.paper_id for paper in before.evaluation.papers}
    contribution = after.evaluation.contribution
    judged = [
        each.paper_id
        for each in (contribution.candidates if contribution is not None else ())
        if each.relevance_0_to_5 is not None
    ]
    then, now = _closest(before), _closest(after)
    return IdeaChange(
        idea_id=after.evaluation.idea.idea_id,
        title=after.score.title,
        verdict_before=idea_page(before).first.verdict.value,
        verdict_after=idea_page(after).first.verdict.value,
        scores=_scores(before, after),
        new_paper_count=sum(paper.paper_id not in known for paper in after.evaluation.papers),
        newly_judged_count=sum(paper_id not in known for paper_id in judged),
        judged_count=len(judged),
        come=tuple(
            _near(work, before.evaluation.papers) for name, work in now.items() if name not in then
        ),
        gone=tuple(
            _near(work, before.evaluation.papers) for name, work in then.items() if name not in now
        ),
    )


def _scores(before: IdeaReview, after: IdeaReview) -> tuple[ScoreChange, ...]:
    found = (
        ScoreChange(
            name=name.partition("_")[0],
            before=getattr(before.score, name),
            after=getattr(after.score, name),
        )
        for name in (*_PARTS, *_PARTS_BESIDE)
    )
    return tuple(each for each in found if (each.before, each.after) != (None, None))


def _closest(review: IdeaReview) -> Mapping[tuple[str, str], ClosestWork]:
    papers: dict[PaperId, Paper] = {paper.paper_id: paper for paper in review.evaluation.papers}
    works = closest_works(review.evaluation.contribution, papers)
    return {(str(work.paper), work.title): work for work in works}


def _near(work: ClosestWork, before: tuple[Paper, ...]) -> NearWork:
    return NearWork(
        paper=str(work.paper),
        title=work.title,
        overlaps=work.overlaps,
        remains=work.remains,
        is_new=(str(work.paper), work.title)
        not in {(str(paper_link(paper)), paper.title) for paper in before},
    )
