"""Suites one after the other; the ideas of a suite that judges evaluations are evaluated first."""

from datetime import date
from functools import partial
from pathlib import Path

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRequest
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.work import Summary
from tasks.benchmarks.expected import count
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.trial import SuiteData, folder_of
from tasks.ideas.json_lines import write_ideas
from tasks.work.course import Course, Follow, Runs
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.units.landing import complete_receipt
from warehouse.warehouse import Warehouse

BenchmarkSummary = Summary[BenchmarkHead]


def run_suites(request: BenchmarkRequest, settings: Settings, runs: Runs) -> BenchmarkSummary:
    """Run each suite; return the first one that is published, with what is wrong with the others.

    Raises:
        ConfigurationError: data that do not fit, or a suite without ideas to evaluate.
        PublicationError: an evaluation broke an expectation and was not published.
    """
    summaries = [
        _run_suite(replace(request, units=(unit,)), settings, runs) for unit in request.units
    ]
    published = [each for each in summaries if each.published]
    if not published:
        return summaries[0]
    first, *_ = published
    faults = tuple(
        f"{each.head.run_id} not published: {line}"
        for each in summaries
        for line in each.failed_expectations
    )
    reasons = [each.head.incomplete_reason for each in published]
    spent = Reason.BUDGET_EXHAUSTED in reasons
    early = Reason.BUDGET_EXHAUSTED if spent else next(filter(None, reasons), None)
    head = replace(first.head, incomplete_reason=early)
    return replace(first, head=head, faults=(*first.faults, *faults))


def _run_suite(request: BenchmarkRequest, settings: Settings, runs: Runs) -> BenchmarkSummary:
    (unit,) = request.units
    suite, parameters = SUITES[unit.suite], request.parameters
    # One unit that reads the lake: it needs no workers, its evaluation may.
    own = replace(
        request,
        workers=None,
        scheduler_address=None,
        literature=parameters.literature if suite.searches(request) else None,
    )
    warehouse, run_id = Warehouse(request.warehouse, settings), runs.run_id("benchmark", own)
    done = complete_receipt(warehouse, BENCHMARKS, run_id, unit.suite)
    if done is None and suite.ideas is not None and suite.evaluates(parameters):
        ideas = suite.ideas(SuiteData(request, unit, settings))
        if not ideas:
            raise ConfigurationError(
                f"suite {unit.suite} has no idea to evaluate: look at its data file"
            )
        path = folder_of(warehouse, run_id) / "ideas.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_ideas(ideas, path)
        evaluated = runs("evaluate", evaluation_of(request, path)).published_head()
        unit = replace(unit, evaluated_run_id=evaluated.run_id)
    return runs("benchmark", replace(own, units=(unit,)))


def evaluation_of(
    request: BenchmarkRequest, ideas: Path | None, cutoff_date: date | None = None
) -> RunRequest:
    """Return the evaluation of the ideas in a file, for the one suite of a request.

    Args:
        cutoff_date: for ideas that bring none.
    """
    (unit,) = request.units
    parameters = request.parameters
    return RunRequest(
        units=() if ideas is None else (GivenIdeas(path=ideas),),
        warehouse=request.warehouse,
        profile=request.profile,
        engine=request.engine,
        api_base=request.api_base,
        literature=parameters.literature,
        parameters=EvaluationParameters(modules=SUITES[unit.suite].modules_of(parameters)),
        workers=request.workers,
        scheduler_address=request.scheduler_address,
        budget=request.budget,
        cutoff_date=cutoff_date,
        full_text=parameters.full_text,
    )


def _follows(request: BenchmarkRequest, settings: Settings) -> tuple[Follow, ...]:
    """Return the evaluation of each suite's ideas, which are as long as the median one."""
    found = []
    for unit in request.units:
        one, suite = replace(request, units=(unit,)), SUITES[unit.suite]
        if suite.evaluates(request.parameters) and suite.modules_of(request.parameters):
            ideas = sorted(
                count(SuiteData(one, unit, settings)).ideas, key=lambda idea: len(idea.text)
            )
            if ideas:
                usual = ideas[len(ideas) // 2]
                asked = partial(evaluation_of, one, cutoff_date=usual.cutoff_date)
                found.append(Follow("evaluate", asked, usual.text, len(ideas)))
    return tuple(found)


SUITE_BY_SUITE = Course(run=run_suites, follows=_follows)
