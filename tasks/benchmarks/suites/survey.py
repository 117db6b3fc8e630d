"""Suite `survey`: how much of what a survey should hold is found when as many papers are judged by
searches alone, with one hop along the citation graph, and with two.

Every depth judges `PAPERS_JUDGED` papers at most, so that a gain is one of where it looks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from schemas.literature.paper import Paper
from schemas.literature.survey import Expansion, SurveyParameters
from schemas.outcome import Unscored
from schemas.reasons import Reason, may_pass
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.steps.judge_survey import JUDGE_SURVEY
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites.survey_reviews import (
    WITH_HOPS,
    WITHOUT_HOPS,
    review_parameters,
    review_scores,
)
from tasks.benchmarks.survey_sets import (
    CORE_PAPERS_FILE,
    PLANTED_QUESTIONS,
    SEARCH_QUERIES_FILE,
    VIS_FILE,
    SurveyCase,
    candidate_papers,
    core_papers,
    planted_graph,
    reference_lists,
    search_questions,
    vis_papers,
    write_papers,
)
from tasks.benchmarks.trial import Trial, drawn_rows, indexed
from tasks.judging.relevance import Judgement, Judgements
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.metrics.estimate import benchmark_score, undefined
from tasks.metrics.means import mean, paired_difference
from tasks.survey.expanding import Judge, expand
from tasks.survey.expected import SURVEY_STEPS
from tasks.survey.survey import plan_queries, relevance_to

NAME = "survey"
DEPTHS = (0, 1, 2)
PAPERS_JUDGED = 200
PAPERS_KEPT = 100
FEWEST_REFERENCES = 10
FEWEST_CORE_PAPERS = 5
CASES_PER_SET = 40
"""Drawn of each set; `--limit` says another number."""
PLANTED_JUDGE_IS_RIGHT = 0.9


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Questions over one literature; `is_planted`: the judge knows the answers, nearly."""

    name: str
    literature: LiteratureChoice
    cases: Sequence[SurveyCase]
    has_references: bool
    is_planted: bool = False


class Reached(Noun):
    """What one expansion found of what it should."""

    recall_of_judged: float | None = Field(description="None: there was no expansion.")
    recall_of_kept: float | None = None
    relevant_share_of_found: float | None = Field(
        default=None, description="Of the right papers that were judged, those judged relevant."
    )
    right_share_of_kept: float | None = None
    judged_count: int | None = None
    reason: Reason | None = None
    detail: str = ""


METRICS = (
    "recall_of_judged",
    "recall_of_kept",
    "relevant_share_of_found",
    "right_share_of_kept",
    "judged_count",
)


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Recall at each depth, judged relevance beside it, and what each hop adds on the same
    questions; and marks for surveys written of some of them.
    """
    scores: list[BenchmarkScore] = []
    for one in _sets(trial):
        reached = {depth: _reached(trial, one, depth) for depth in DEPTHS}
        for depth, found in reached.items():
            trial.record(_items(one, depth, found))
            scores += _scores(one, depth, found, trial.seed)
        scores += _gains(one, reached, trial.seed)
        if one.has_references and not one.is_planted:
            bounds = {depth: _review_bounds(depth) for depth in (WITHOUT_HOPS, WITH_HOPS)}
            scores += review_scores(trial, NAME, one.name, one.literature, one.cases, bounds)
    return scores


def _review_bounds(depth: int) -> SurveyParameters:
    return review_parameters(depth, PAPERS_JUDGED, PAPERS_KEPT)


def _sets(trial: Trial) -> Iterator[CaseSet]:
    """Those whose data are there, and the generated graph, which needs none."""
    for file, rows in ((VIS_FILE, vis_papers), (CORE_PAPERS_FILE, candidate_papers)):
        path = trial.file(file)
        if path.is_file():
            literature = snapshot_of(trial, path.parent.name, partial(rows, path))
            yield _set_of(trial, path, literature)
    planted = planted_graph(
        trial.seed, min(trial.parameters.item_limit or PLANTED_QUESTIONS, PLANTED_QUESTIONS)
    )
    literature = snapshot_of(trial, "generated", lambda: planted.rows)
    yield CaseSet("generated", literature, _drawn(trial, planted.cases), True, is_planted=True)
    path = trial.file(SEARCH_QUERIES_FILE)
    own = indexed(trial.parameters.literature, trial.settings)
    if own.snapshot is not None:
        snapshot = open_snapshot(own.snapshot)
        try:
            listed = reference_lists(snapshot, FEWEST_REFERENCES)
            asked = search_questions(path, snapshot) if path.is_file() else []
        finally:
            snapshot.close()
        known = snapshot.manifest.has_references
        for name, cases in (("literature", listed), (path.parent.name, asked)):
            if cases:
                literature = trial.parameters.literature
                yield CaseSet(name, literature, _drawn(trial, cases), known)


def _set_of(trial: Trial, path: Path, literature: LiteratureChoice) -> CaseSet:
    if path == trial.file(CORE_PAPERS_FILE):
        cases = core_papers(path, FEWEST_CORE_PAPERS)
        return CaseSet(path.parent.name, literature, _drawn(trial, cases), False)
    assert literature.snapshot is not None
    snapshot = open_snapshot(literature.snapshot)
    try:
        cases = reference_lists(snapshot, FEWEST_REFERENCES)
    finally:
        snapshot.close()
    return CaseSet(path.parent.name, literature, _drawn(trial, cases), True)


def _drawn(trial: Trial, cases: Sequence[SurveyCase]) -> Sequence[SurveyCase]:
    return drawn_rows(cases, trial.parameters.item_limit or CASES_PER_SET, trial.seed)


def snapshot_of(
    trial: Trial, name: str, rows: Callable[[], Iterable[dict[str, Any]]]
) -> LiteratureChoice:
    """The index of a set, built once in the benchmark's folder."""
    path = trial.folder / f"{name}.jsonl"
    if not path.is_file():
        write_papers(rows(), path)
    build_snapshot(path, trial.folder / f"{name}.snapshot").close()
    return LiteratureChoice(trial.folder / f"{name}.snapshot")


def _reached(trial: Trial, one: CaseSet, depth: int) -> dict[str, Reached]:
    parameters = SurveyParameters(
        depth=depth,
        maximum_papers=PAPERS_KEPT,
        maximum_judged=PAPERS_JUDGED,
        papers_per_query=PAPERS_JUDGED,
    )

    async def work(case: SurveyCase, context: ItemContext) -> Reached:
        assert context.literature is not None, "the trial opens a gateway"
        planned = await plan_queries(case.question, parameters, context.engine)
        if isinstance(planned, Unscored):
            return Reached(recall_of_judged=None, reason=planned.reason, detail=planned.detail)
        judge = (
            _planted_judge(case, trial.seed)
            if one.is_planted
            else relevance_to(case.question, parameters, context.engine)
        )
        expansion = await expand(
            case.question, planned.value, parameters, context.literature, judge, case.cutoff
        )
        return _measured(expansion, case)

    return trial.each(
        f"{one.name}, depth {depth}, {PAPERS_JUDGED} judged",
        {case.case_id: case for case in one.cases},
        work,
        Reached,
        ask_again=lambda reached: may_pass(reached.reason),
        literature=one.literature,
    )


def _planted_judge(case: SurveyCase, seed: int) -> Judge:
    """Knows what was planted, and is right nine times in ten;
    made-up words say nothing to a model.
    """

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return Judgements({paper.paper_id: _known(paper.paper_id) for paper in papers})

    def _known(paper_id: str) -> Judgement:
        drawn = int(content_hash(str(seed), case.case_id, paper_id, length=8), 16) / 16**8
        right = (paper_id in case.relevant) == (drawn < PLANTED_JUDGE_IS_RIGHT)
        return Judgement(4 if right else 1)

    return judge


def _measured(expansion: Expansion, case: SurveyCase) -> Reached:
    unanswered = [query for query in expansion.queries if query.found_count is None]
    if len(unanswered) == len(expansion.queries):
        detail = f"none of {len(unanswered)} searches was answered"
        return Reached(recall_of_judged=None, reason=Reason.SOURCE_UNAVAILABLE, detail=detail)
    least = SurveyParameters().least_relevance
    named = {
        paper.paper_id: case.relevant & {paper.paper_id, *paper.other_version_ids}
        for paper in expansion.papers
    }
    right = [paper for paper in expansion.papers if named[paper.paper_id]]
    relevant = [paper for paper in right if (paper.relevance_0_to_5 or 0) >= least]
    kept = [paper for paper in right if paper.kept]
    return Reached(
        recall_of_judged=sum(len(found) for found in named.values()) / len(case.relevant),
        recall_of_kept=sum(len(named[paper.paper_id]) for paper in kept) / len(case.relevant),
        relevant_share_of_found=len(relevant) / len(right) if right else None,
        right_share_of_kept=len(kept) / len(expansion.kept) if expansion.kept else None,
        judged_count=len(expansion.papers),
    )


def _system(depth: int) -> str:
    return f"depth_{depth}"


def _items(one: CaseSet, depth: int, reached: Mapping[str, Reached]) -> Iterator[BenchmarkItem]:
    for case in one.cases:
        found = reached[case.case_id]
        recall = found.recall_of_judged
        yield BenchmarkItem(
            item_id=case.case_id,
            task=one.name,
            system=_system(depth),
            gold=f"{len(case.relevant)} papers",
            answer=None if recall is None else f"{round(recall * len(case.relevant))} papers",
            value=recall,
            explanation=f"{found.judged_count} papers judged" if recall is not None else "",
            unscored_reason=found.reason,
            unscored_detail=found.detail,
        )


def _scores(
    one: CaseSet, depth: int, reached: Mapping[str, Reached], seed: int
) -> Iterator[BenchmarkScore]:
    for metric in METRICS:
        estimate = mean([getattr(found, metric) for found in reached.values()], seed)
        if depth and not one.has_references:
            estimate = undefined("this literature knows no references", len(reached))
        yield benchmark_score(estimate, NAME, metric, _system(depth), f"set={one.name}")


def _gains(
    one: CaseSet, reached: Mapping[int, Mapping[str, Reached]], seed: int
) -> Iterator[BenchmarkScore]:
    """On the same questions, how much more a depth finds than searches alone."""
    if not one.has_references:
        return
    recalls = {
        depth: [found.recall_of_judged for found in by_case.values()]
        for depth, by_case in reached.items()
    }
    for depth in DEPTHS[1:]:
        gain = paired_difference(recalls[depth], recalls[0], seed)
        yield benchmark_score(gain, NAME, "recall_gain", _system(depth), f"set={one.name}")


SUITE = Suite(
    NAME,
    "Does following the citation graph find what searches miss, at equal papers judged?",
    (),
    run,
    steps=(*SURVEY_STEPS, JUDGE_SURVEY),
    searches=lambda request: request.parameters.literature.snapshot is not None,
    optional=(VIS_FILE, CORE_PAPERS_FILE, SEARCH_QUERIES_FILE),
)
