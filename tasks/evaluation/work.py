"""Declaration of the evaluation of ideas."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.ranking import RankParameters, RankRequest, RunToRank
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.options.commands import EvaluateOptions
from schemas.people.job import EvaluateJob
from schemas.run import Run
from schemas.settings import Settings
from schemas.work import Summary
from tasks.evaluation.expected import calls_for_ideas
from tasks.evaluation.manuscripts import read_given_ideas
from tasks.evaluation.modules import steps_of
from tasks.evaluation.preparation import PREPARATION_STEPS
from tasks.evaluation.steps import STEPS
from tasks.judging.step import Step
from tasks.work.declaration import Common, Expected, Follow, Result, Runs, Work
from warehouse.kinds.runs.landing import RUNS
from warehouse.parquet import write_bytes


def _given(job: EvaluateJob, folder: Path) -> tuple[Path]:
    path = folder / f"ideas.{job.ideas_format}"
    write_bytes(path, job.idea_file)
    return (path,)


def _resolve(
    arguments: tuple[Path], options: EvaluateOptions, common: Common, settings: Settings
) -> RunRequest:
    """Resolve a file of ideas.

    Raises:
        ConfigurationError: there is no such file.
    """
    (path,) = arguments
    if not path.exists():
        raise ConfigurationError(
            f"{path} does not exist; name a file of ideas (JSON, JSONL, CSV, YAML, Excel, Parquet,"
            " HTML), a manuscript, or a folder of texts and manuscripts"
        )
    parameters = EvaluationParameters(
        modules=options.modules,
        survey=options.survey,
        experiment_run_ids=tuple(map(RunId, options.experiment)),
        label=options.label,
        again=getattr(options, "again", None),
        rank=getattr(options, "rank", False),
        idea_timeout_seconds=settings.runs.idea_timeout_seconds,
        allowed_unscored_share=settings.runs.allowed_unscored_share,
        batch=bool(options.batch),
        batch_failures=options.batch_failures,
    )
    unit = GivenIdeas(path=path.resolve(), fields=options.field)
    return RunRequest(units=(unit,), parameters=parameters, **common)


def _steps(request: RunRequest) -> tuple[Step[Any, Any], ...]:
    parameters = request.parameters
    steps = steps_of(parameters.modules, STEPS, surveyed=parameters.survey)
    return (*steps, *PREPARATION_STEPS)


def _expected(request: RunRequest, settings: Settings) -> Expected:
    """Estimate the calls for all ideas, as if none were evaluated."""
    batch, _ = read_given_ideas(request, settings)
    calls, requests = calls_for_ideas(batch.ideas, request, settings)
    return Expected(
        per_step=calls,
        counts={
            "ideas": len(batch.ideas),
            "rejected": len(batch.rejected),
            "literature_requests": round(requests),
        },
        note="`assay plan` says more, and leaves out what is evaluated already",
        lost=tuple(f"{each.location}: {each.detail}" for each in batch.rejected),
    )


def _result(run: Run, _: Sequence[Any]) -> Result:
    stands, reasons = run.idea_count > 0, run.order_reasons
    return Result(run.in_a_word(), in_order=run.in_order, lost=reasons, stands=stands)


def _ranking_of(request: RunRequest, run_id: RunId | None = None) -> RankRequest:
    """Return the request of the following ranking by the same engine.

    `run_id` is None if there is no run yet.
    """
    unit = RunToRank(evaluation=request) if run_id is None else RunToRank(run_id=run_id)
    return RankRequest(
        units=(unit,),
        parameters=RankParameters(
            batch=request.parameters.batch, batch_failures=request.parameters.batch_failures
        ),
        **request.command_fields,
    )


def _evaluate(request: RunRequest, _: Settings, runs: Runs) -> Summary[Any]:
    """Evaluate ideas, and rank the published run if requested."""
    summary = runs("evaluate", request)
    if not (request.parameters.rank and summary.published):
        return summary
    ranking = runs("rank", _ranking_of(request, summary.head.run_id))
    return replace(ranking, first=summary)


def _follows(request: RunRequest, *_: object) -> tuple[Follow, ...]:
    return (("rank", _ranking_of(request), 1),) if request.parameters.rank else ()


EVALUATE: Work[GivenIdeas, EvaluationParameters, Any] = Work(
    job=EvaluateJob,
    given=_given,
    resolve=_resolve,
    schema=RUNS,
    steps=_steps,
    do="flows.works.evaluate.evaluate:Evaluation",
    expects=_expected,
    result=_result,
    run=_evaluate,
    follows=_follows,
)
