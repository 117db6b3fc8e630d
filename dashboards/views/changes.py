"""Changes between two evaluations of the same ideas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.formats.markdown import markdown_line
from dashboards.render.papers import citation
from dashboards.render.prose import prose_line
from dashboards.views.idea.closest_work import ClosestWork, closest_works
from dashboards.views.idea.verdict import decide, overall_of, percent
from schemas.base import Noun
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.run import Run
from warehouse.queries import Queries
from warehouse.row_models import IdeaReview, IdeaScore

_PARTS = (
    *("score", "soundness_0_to_10", "contribution_0_to_10", "committee_0_to_10"),
    "novelty_1_to_5",
)
_CUTOFFS_SHOWN = 3
# A paper as readers see it: link and title.
Named = tuple[str, str]


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
    def text(self) -> str:
        """Both scores, or one if they are equal."""
        if self.before == self.after:
            return figures.mean(self.after)
        return f"{figures.mean(self.before)} → {figures.mean(self.after)}"


class IdeaChange(Noun):
    """One idea in both runs.

    `come` and `gone` are works among the closest in one run only.
    """

    idea_id: IdeaId
    title: str
    cutoff_before: date | None
    cutoff_after: date | None
    verdict_before: str
    verdict_after: str
    probability_before_0_to_1: float | None
    probability_after_0_to_1: float | None
    scores: tuple[ScoreChange, ...]
    new_paper_count: int
    newly_judged_count: int
    judged_count: int
    come: tuple[NearWork, ...]
    gone: tuple[NearWork, ...]

    def score_text(self, name: str) -> str:
        """Return a score before and after; a dash if neither run has one."""
        return next((each.text for each in self.scores if each.name == name), "–")

    @property
    def verdicts(self) -> str:
        """Verdict and probability before and after, or once if equal."""
        before = _verdict(self.verdict_before, self.probability_before_0_to_1)
        after = _verdict(self.verdict_after, self.probability_after_0_to_1)
        return after if before == after else f"{before} → {after}"

    @property
    def is_changed(self) -> bool:
        """True if scores, verdict or closest works changed."""
        scores = any(each.before != each.after for each in self.scores)
        return scores or self.verdict_before != self.verdict_after or bool(self.come or self.gone)


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes since an earlier run; `before` is None if that run was deleted."""

    before_id: RunId
    before: Run | None
    ideas: tuple[IdeaChange, ...]

    @property
    def cutoffs(self) -> str:
        """The cutoff dates of both runs, where they differ."""
        pairs = {(each.cutoff_before, each.cutoff_after) for each in self.ideas}
        moves = sorted(
            " → ".join("none" if day is None else figures.day(day) for day in pair)
            for pair in pairs
            if pair[0] != pair[1]
        )
        shown_moves = "; ".join(moves[:_CUTOFFS_SHOWN])
        return (
            f"{shown_moves}; and {len(moves) - _CUTOFFS_SHOWN} more"
            if moves[_CUTOFFS_SHOWN:]
            else shown_moves
        )

    @property
    def score_names(self) -> list[str]:
        """The scores that any idea has, in order."""
        return list(dict.fromkeys(each.name for idea in self.ideas for each in idea.scores))

    @property
    def changed_ideas(self) -> tuple[IdeaChange, ...]:
        """The ideas that changed."""
        return tuple(each for each in self.ideas if each.is_changed)


def changes_of(queries: Queries, run: Run) -> Changes | None:
    """Return the changes of a re-evaluation; None: the run is none."""
    if run.again_run_id is None:
        return None
    try:
        before = queries.run(run.again_run_id)
    except UnknownNameError:
        return Changes(run.again_run_id, None, ())
    earlier_values = {
        review.evaluation.idea.idea_id: _snapshot(review)
        for review in queries.idea_reviews(before.run_id)
    }
    idea_changes = (
        _change(earlier_values[idea_id], review)
        for review in queries.idea_reviews(run.run_id)
        if (idea_id := review.evaluation.idea.idea_id) in earlier_values
    )
    return Changes(before.run_id, before, tuple(idea_changes))


def changes_blocks(changes: Changes, run: Run) -> Iterator[pg.Block]:
    """Yield the section on changes since the earlier run."""
    yield pg.heading(f"What changed since {changes.before_id}")
    if changes.before is None:
        yield pg.text("The earlier run is no longer published, so that nothing can be compared.")
        return
    now = wording.literature(run.literature, run.literature_name)
    before = wording.literature(changes.before.literature, changes.before.literature_name)
    same = "as before" if run.literature == changes.before.literature else f"before {before}"
    cutoffs = f", up to another cutoff ({changes.cutoffs})" if changes.cutoffs else ""
    count = figures.plural(len(changes.ideas), "idea")
    change_count = f"{len(changes.changed_ideas):,} of {count} changed."
    yield pg.text(f"The same ideas against {now}, {same}{cutoffs}. {change_count}")
    if changes.ideas:
        names = changes.score_names
        rows: list[Sequence[pg.Part]] = [
            (
                idea.title,
                idea.verdicts,
                *map(idea.score_text, names),
                idea.new_paper_count,
                f"{idea.newly_judged_count:,} of {idea.judged_count:,}",
            )
            for idea in changes.ideas
        ]
        columns = ("Idea", "Verdict", *(name.capitalize() for name in names))
        yield pg.table((*columns, "New papers found:", "Newly judged:"), rows)
    for idea in changes.changed_ideas:
        if idea.come or idea.gone:
            yield pg.heading(idea.title, level=3)
            yield from pg.bullets((*map(_added_line, idea.come), *map(_removed_line, idea.gone)))


def _added_line(work: NearWork) -> pg.Line:
    new = "new" if work.is_new else "found before, less close"
    remaining_text = (
        (". What remains new compared with it: ", prose_line(work.remains)) if work.remains else ()
    )
    closest = ("Now among the closest: ", prose_line(work.paper))
    return pg.line(*closest, f" {work.title} ({new}; {work.overlaps})", *remaining_text)


def _removed_line(work: NearWork) -> pg.Line:
    paper = prose_line(work.paper)
    return pg.line("No longer among the closest: ", paper, f" {work.title} ({work.overlaps})")


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The compared part of a review; whole reviews of all ideas would not fit in memory."""

    score: IdeaScore
    cutoff: date | None
    verdict: str
    probability: float | None
    closest: Mapping[Named, ClosestWork]
    papers: frozenset[PaperId]
    names: frozenset[Named]


def _verdict(verdict: str, probability: float | None) -> str:
    return verdict if probability is None else f"{verdict} ({percent(probability)})"


def _snapshot(review: IdeaReview) -> _Snapshot:
    overall = overall_of(review.evaluation)
    papers = {paper.paper_id: paper for paper in review.evaluation.papers}
    closest = closest_works(review.evaluation.contribution, papers)
    return _Snapshot(
        score=review.score,
        cutoff=review.evaluation.idea.cutoff_date,
        verdict=decide(review).verdict.value,
        probability=overall.probability_0_to_1 if overall is not None else None,
        closest={(markdown_line(work.paper), work.title): work for work in closest},
        papers=frozenset(papers),
        names=frozenset(
            (markdown_line((citation(paper),)), paper.title) for paper in papers.values()
        ),
    )


def _change(then: _Snapshot, review: IdeaReview) -> IdeaChange:
    now, contribution = _snapshot(review), review.evaluation.contribution
    judged_ids = [
        each.paper_id
        for each in (contribution.candidates if contribution is not None else ())
        if each.relevance_0_to_5 is not None
    ]
    return IdeaChange(
        idea_id=review.evaluation.idea.idea_id,
        title=now.score.title,
        cutoff_before=then.cutoff,
        cutoff_after=now.cutoff,
        verdict_before=then.verdict,
        verdict_after=now.verdict,
        probability_before_0_to_1=then.probability,
        probability_after_0_to_1=now.probability,
        scores=_scores(then.score, now.score),
        new_paper_count=len(now.papers - then.papers),
        newly_judged_count=sum(paper_id not in then.papers for paper_id in judged_ids),
        judged_count=len(judged_ids),
        come=_only_in(now, then, then),
        gone=_only_in(then, now, then),
    )


def _scores(before: IdeaScore, after: IdeaScore) -> tuple[ScoreChange, ...]:
    score_changes = (
        ScoreChange(
            name=name.partition("_")[0], before=getattr(before, name), after=getattr(after, name)
        )
        for name in _PARTS
    )
    return tuple(each for each in score_changes if (each.before, each.after) != (None, None))


def _only_in(one: _Snapshot, other: _Snapshot, then: _Snapshot) -> tuple[NearWork, ...]:
    return tuple(
        NearWork(
            paper=name[0],
            title=work.title,
            overlaps=work.overlaps,
            remains=work.remains,
            is_new=name not in then.names,
        )
        for name, work in one.closest.items()
        if name not in other.closest
    )
