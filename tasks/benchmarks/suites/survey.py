"""Suite `survey`: recall of surveys with and without citation hops.

Every depth judges at most `PAPERS_JUDGED` papers, so that gains come from better candidates.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from pydantic import Field

from schemas.choices import LiteratureChoice
from schemas.identifiers import content_hash
from schemas.literature.paper import Paper
from schemas.literature.survey import Expansion, Survey, SurveyParameters
from schemas.outcome import Unscored
from schemas.reasons import Reason
from schemas.works.survey_run import SurveyQuestion
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    QUESTION_TOKENS,
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
    index_literature,
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
from tasks.documents.document import AbstractLibrary
from tasks.judging.relevance import Judgement, Judgements
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.metrics.estimate import undefined
from tasks.metrics.means import mean, paired_difference
from tasks.novelty.expected import WORK_TOKENS
from tasks.survey.expanding import Judge, expand
from tasks.survey.steps import SURVEY_PLAN, SURVEY_RELEVANCE
from tasks.survey.survey import plan_queries, relevance_to, survey

DEPTHS = (0, 1, 2)
PAPERS_JUDGED = 200
PAPERS_KEPT = 100
FEWEST_REFERENCES = 10
FEWEST_CORE_PAPERS = 5
CASES_PER_SET = 40
"""Default sample of each set, without `--limit`."""
PLANTED_JUDGE_IS_RIGHT = 0.9
METRICS = (
    "recall_of_judged",
    "recall_of_kept",
    "relevant_share_of_found",
    "right_share_of_kept",
    "judged_count",
)


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Questions over one literature; `is_planted` uses a simulated judge with known answers."""

    name: str
    literature: LiteratureChoice
    cases: Sequence[SurveyCase]
    has_references: bool
    is_planted: bool = False


class RecallResult(ItemResult):
    """Recall and precision of one expansion."""

    recall_of_judged: float | None = Field(description="None: there was no expansion.")
    recall_of_kept: float | None = None
    relevant_share_of_found: float | None = Field(
        default=None, description="Of the right papers that were judged, those judged relevant."
    )
    right_share_of_kept: float | None = None
    judged_count: int | None = None


def run(trial: Trial) -> None:
    """Score recall by depth, and gains of hops."""
    for one in case_sets(trial):
        recalls: dict[int, list[float | None]] = {}
        for depth in DEPTHS:
            results = _expand_cases(trial, one, depth)
            _score(trial, one, depth, results)
            recalls[depth] = [each.recall_of_judged for each in results.values()]
        if not one.has_references:
            continue
        for depth in DEPTHS[1:]:
            gain = paired_difference(recalls[depth], recalls[0], trial.seed)
            trial.score("recall_gain", gain, system_of(depth), f"set={one.name}")


def system_of(depth: int) -> str:
    return f"depth_{depth}"


def case_sets(trial: Trial) -> Iterator[CaseSet]:
    """Yield the generated set, and those whose data are available."""

    def drawn(cases: Sequence[SurveyCase]) -> Sequence[SurveyCase]:
        return trial.draw(cases, CASES_PER_SET)

    path = trial.file(VIS_FILE)
    if path.is_file():
        literature = snapshot_of(trial, path.parent.name, partial(vis_papers, path))
        assert literature.snapshot is not None
        snapshot = open_snapshot(literature.snapshot)
        try:
            cases = reference_lists(snapshot, FEWEST_REFERENCES)
        finally:
            snapshot.close()
        yield CaseSet(path.parent.name, literature, drawn(cases), True)
    path = trial.file(CORE_PAPERS_FILE)
    if path.is_file():
        literature = snapshot_of(trial, path.parent.name, partial(candidate_papers, path))
        cases = core_papers(path, FEWEST_CORE_PAPERS)
        yield CaseSet(path.parent.name, literature, drawn(cases), False)
    limit = trial.parameters.item_limit or PLANTED_QUESTIONS
    graph = planted_graph(trial.seed, min(limit, PLANTED_QUESTIONS))
    literature = snapshot_of(trial, "generated", lambda: graph.rows)
    yield CaseSet("generated", literature, drawn(graph.cases), True, is_planted=True)
    path = trial.file(SEARCH_QUERIES_FILE)
    literature_index = index_literature(trial.parameters.literature, trial.settings)
    if literature_index.snapshot is not None:
        snapshot = open_snapshot(literature_index.snapshot)
        try:
            reference_cases = reference_lists(snapshot, FEWEST_REFERENCES)
            search_cases = search_questions(path, snapshot) if path.is_file() else []
        finally:
            snapshot.close()
        has_references = snapshot.manifest.has_references
        for name, cases in (("literature", reference_cases), (path.parent.name, search_cases)):
            if cases:
                yield CaseSet(name, trial.parameters.literature, drawn(cases), has_references)


def snapshot_of(
    trial: Trial, name: str, rows: Callable[[], Iterable[dict[str, Any]]]
) -> LiteratureChoice:
    """Return a set's snapshot, built once in the benchmark's folder."""
    path = trial.folder / f"{name}.jsonl"
    if not path.is_file():
        write_papers(rows(), path)
    build_snapshot(path, trial.folder / f"{name}.snapshot").close()
    return LiteratureChoice(trial.folder / f"{name}.snapshot")


def _expand_cases(trial: Trial, one: CaseSet, depth: int) -> dict[str, RecallResult]:
    parameters = survey_bounds(depth)

    async def work(case: SurveyCase, context: ItemContext) -> RecallResult:
        assert context.literature is not None, "the trial opens a gateway"
        plan = await plan_queries(case.question, parameters, context.engine)
        if isinstance(plan, Unscored):
            return RecallResult(recall_of_judged=None, reason=plan.reason, detail=plan.detail)
        judge = (
            _planted_judge(case, trial.seed)
            if one.is_planted
            else relevance_to(case.question, parameters, context.engine)
        )
        expansion = await expand(
            case.question, plan.value, parameters, context.literature, judge, case.cutoff
        )
        return _measure(expansion, case)

    return trial.each(
        f"{one.name}, depth {depth}, {PAPERS_JUDGED} judged",
        {case.case_id: case for case in one.cases},
        work,
        RecallResult,
        literature=one.literature,
    )


def survey_bounds(depth: int) -> SurveyParameters:
    """Return the parameters of a survey by citation hops."""
    return SurveyParameters(
        depth=depth,
        maximum_papers=PAPERS_KEPT,
        maximum_judged=PAPERS_JUDGED,
        papers_per_query=PAPERS_JUDGED,
    )


def _planted_judge(case: SurveyCase, seed: int) -> Judge:
    """Simulate a judge with an accuracy of `PLANTED_JUDGE_IS_RIGHT`.

    A model cannot judge the generated words.
    """

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return Judgements({paper.paper_id: known(paper.paper_id) for paper in papers})

    def known(paper_id: str) -> Judgement:
        chance = int(content_hash(str(seed), case.case_id, paper_id, length=8), 16) / 16**8
        right = (paper_id in case.relevant) == (chance < PLANTED_JUDGE_IS_RIGHT)
        return Judgement(4 if right else 1)

    return judge


def _measure(expansion: Expansion, case: SurveyCase) -> RecallResult:
    unanswered_queries = [query for query in expansion.queries if query.found_count is None]
    if len(unanswered_queries) == len(expansion.queries):
        detail = f"none of {len(unanswered_queries)} searches was answered"
        return RecallResult(recall_of_judged=None, reason=Reason.SOURCE_UNAVAILABLE, detail=detail)
    threshold = SurveyParameters().least_relevance
    ids_by_paper = {
        paper.paper_id: case.relevant & {paper.paper_id, *paper.other_version_ids}
        for paper in expansion.papers
    }
    right = [paper for paper in expansion.papers if ids_by_paper[paper.paper_id]]
    relevant = [paper for paper in right if (paper.relevance_0_to_5 or 0) >= threshold]
    right_kept = [paper for paper in right if paper.kept]
    return RecallResult(
        recall_of_judged=sum(len(ids) for ids in ids_by_paper.values()) / len(case.relevant),
        recall_of_kept=sum(len(ids_by_paper[paper.paper_id]) for paper in right_kept)
        / len(case.relevant),
        relevant_share_of_found=len(relevant) / len(right) if right else None,
        right_share_of_kept=len(right_kept) / len(expansion.kept) if expansion.kept else None,
        judged_count=len(expansion.papers),
    )


def _score(trial: Trial, one: CaseSet, depth: int, results: Mapping[str, RecallResult]) -> None:
    for case in one.cases:
        case_result = results[case.case_id]
        recall = case_result.recall_of_judged
        trial.record(
            one.name,
            case.case_id,
            None if recall is None else f"{round(recall * len(case.relevant))} papers",
            case_result,
            system=system_of(depth),
            gold=f"{len(case.relevant)} papers",
            value=recall,
            explanation=f"{case_result.judged_count} papers judged",
        )
    for metric in METRICS:
        estimate = mean(
            [getattr(case_result, metric) for case_result in results.values()], trial.seed
        )
        if depth and not one.has_references:
            estimate = undefined("this literature has no references", len(results))
        trial.score(metric, estimate, system_of(depth), f"set={one.name}")


async def survey_of(
    name: str,
    question: str,
    parameters: SurveyParameters,
    cutoff: date | None,
    context: ItemContext,
) -> Survey:
    """Survey one question from abstracts."""
    assert context.literature is not None, "the trial opens a gateway"
    return await survey(
        SurveyQuestion(question_id=name, question=question),
        parameters,
        cutoff,
        engine=context.engine,
        literature=context.literature,
        embedder=context.embedder,
        ledger=context.ledger,
        documents=AbstractLibrary(),
    )


def _expects(data: SuiteData) -> SuiteEstimate:
    case_count = data.parameters.item_limit or CASES_PER_SET
    available_count = sum(data.file(name).is_file() for name in SUITE.optional)
    parameters = SurveyParameters()
    plan_calls = len(DEPTHS) * (1 + available_count) * case_count
    per_call = parameters.papers_per_call
    judge_calls = len(DEPTHS) * available_count * case_count * PAPERS_JUDGED / per_call
    plan_tokens = parameters.maximum_sub_questions * GRADE_TOKENS
    prompt_tokens = QUESTION_TOKENS + per_call * WORK_TOKENS
    calls = [
        ExpectedCalls(SURVEY_PLAN, plan_calls, QUESTION_TOKENS, plan_tokens),
        ExpectedCalls(SURVEY_RELEVANCE, judge_calls, prompt_tokens, per_call * GRADE_TOKENS),
    ]
    return SuiteEstimate((1 + available_count) * case_count, calls)


SUITE = Suite(
    "survey",
    "Does following the citation graph find what searches miss, at equal papers judged?",
    (),
    run,
    steps=(SURVEY_PLAN, SURVEY_RELEVANCE),
    expects=_expects,
    searches=lambda request: request.parameters.literature.snapshot is not None,
    optional=(VIS_FILE, CORE_PAPERS_FILE, SEARCH_QUERIES_FILE),
)
