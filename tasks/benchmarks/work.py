"""Declaration of benchmarks as a kind of work.

A unit is one suite over a data folder. Suites run in sequence; the ideas of a suite that judges
evaluations are evaluated first.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from schemas.base import replace
from schemas.choices import LIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.failure import Failure
from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import (
    ANOTHER_IDEAS,
    PROMPT_ONLY,
    PROMPT_WITH_SEARCH,
    BenchmarkHead,
    BenchmarkParameters,
    BenchmarkRequest,
    BenchmarkRun,
    SuiteName,
    SuiteUnit,
)
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.judging import AskingParameters, Wording
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.people.job import BenchmarkJob
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Module
from schemas.settings import Settings
from schemas.work import Summary
from tasks.benchmarks.differences import differences
from tasks.benchmarks.published import published_scores, training_until
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.suite import LITERATURE_FILE, Suite, SuiteData, Trial, folder_of, sample_file
from tasks.calibration.calibrator_files import with_prior
from tasks.ideas.json_lines import write_ideas
from tasks.judging.expected import CallsByStep, ExpectedCalls, add_calls
from tasks.judging.identity import embedding_identity, prompts_of
from tasks.judging.step import Step
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from tasks.shards.work import Cause
from tasks.work.declaration import Common, Expected, Follow, Result, Runs, Work
from tasks.work.tools import Tools
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.units.landing import complete_receipt
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

ALL = "all"
BASELINES = (PROMPT_ONLY, PROMPT_WITH_SEARCH, ANOTHER_IDEAS)
ABLATIONS: Mapping[str, tuple[str, str]] = {
    "mre": ("soundness", "extract_methods_and_results"),
    "pa": ("contribution", "augment_papers"),
    "pc": ("contribution", "compare_papers"),
}
"""Profile section and switch of ScholarEval's ablations (§4.2 and F.3).

mre: reviews see passages, and no paper is read. pa: no recommendations and references. pc: reviews
see abstracts of papers, not comparisons.
"""


def _resolve(
    arguments: tuple[str], options: BenchmarkOptions, common: Common, settings: Settings
) -> BenchmarkRequest:
    """Resolve one suite, or `all`.

    Raises:
        ConfigurationError: an invalid option, or missing data.
    """
    suites, profile = _suites(*arguments), common["profile"]
    if options.calibrate is not None:
        _check_calibrate(suites, profile)
    profile = with_prior(profile_without(profile, options.without))
    wording = options.judge if isinstance(options.judge, Wording) else Wording.OWN
    fits = options.calibrate is not None or profile.novelty.calibrator is not None
    if (
        wording is Wording.PUBLISHED
        and fits
        and SuiteName.NOVELTY in {each.name for each in suites}
    ):
        raise ConfigurationError(
            "--judge published: the published question about novelty has one score, which no"
            " calibrator fits; leave out --calibrate, and `calibrator` in the profile's [novelty]"
        )
    if isinstance(options.judge, EngineChoice):
        profile = _assign_judge(options.judge, options.engine, suites, profile)
    data = _folder(suites, options.data, settings)
    changed, literature = dict(common), common["literature"]
    if options.literature is None:  # a suite comes with papers, and its run may need none
        changed |= {"literature": None, "full_text": False}
        literature = _default_literature(data, settings)
    fetches = options.full_text
    parameters = BenchmarkParameters(
        literature=literature,
        modules=options.modules,
        evaluated_run=None if options.run is None else RunId(options.run),
        item_limit=options.limit,
        baselines=tuple(
            name
            for name in _names("baselines", options.baselines, (*BASELINES, "none"))
            if name != "none"
        ),
        seed=options.seed,
        full_text=literature.snapshot is None if fetches is None else fetches,
        text=options.text,
        training_until=options.training_until,
        judge=wording,
        check_links=options.check_links,
    )
    units = tuple(unit_of(suite, data, profile, parameters, settings) for suite in suites)
    remarks = (
        f"{suite.name}: by title and abstract alone; --modules committee evaluates the ideas before"
        " their matches"
        for suite in suites
        if suite.ideas is not None
        and not suite.evaluates(parameters)
        and parameters.evaluated_run is None
    )
    grading_warnings = _self_grading_warning(options.engine, suites, profile)
    changed |= {"profile": profile, "remarks": (*remarks, *grading_warnings)}
    return BenchmarkRequest(units=units, parameters=parameters, **changed)


def _grading_steps(suites: Sequence[Suite]) -> set[str]:
    """Return the names of the steps that grade an engine's texts."""
    return {
        step.name
        for suite in suites
        for step in suite.steps
        if step is JUDGE_HIT
        or (step.package.endswith(".benchmarks") and not step.name.startswith("prompted_"))
    }


def _assign_judge(
    judge: EngineChoice, writer: EngineChoice, suites: Sequence[Suite], profile: Profile
) -> Profile:
    """Assign the grading steps to the model of `judge`.

    Raises:
        ConfigurationError: no step grades, or judge or writer is not a model.
    """
    names = _grading_steps(suites)
    if not names:
        raise ConfigurationError(f"--judge {judge}: nothing that a model wrote is graded here")
    if judge.model is None or writer.model is None:
        raise ConfigurationError(
            f"--judge {judge}: --judge and --engine are both to be models; the offline engine"
            " grades itself alone"
        )
    steps = profile.judging.steps
    judge_steps = {
        name: replace(steps.get(name, AskingParameters()), model=judge.model, judges=None)
        for name in names
    }
    return replace(profile, judging=replace(profile.judging, steps={**steps, **judge_steps}))


def _self_grading_warning(
    writer: EngineChoice, suites: Sequence[Suite], profile: Profile
) -> tuple[str, ...]:
    """Return a warning if a model grades its own texts.

    Such grades are biased.
    """
    if writer.model is None:
        return ()
    names = _grading_steps(suites)
    steps = {step.name: step for suite in suites for step in suite.steps}
    for name in sorted(names):
        step = steps[name]
        models = profile.judging.assignment(name, step.kind, step.answer_tokens).models
        if writer.model in (models or (writer.model,)):
            return (
                f"{writer.model} grades its own texts, which biases the grades: name another model"
                " with --judge",
            )
    return ()


def _suites(name: str) -> tuple[Suite, ...]:
    if name == ALL:
        return tuple(SUITES.values())
    if name not in SUITES:
        raise ConfigurationError(
            f"no suite {name!r}: choose from {', '.join(SuiteName)}, or `{ALL}`"
        )
    return (SUITES[name],)


def _check_calibrate(suites: Sequence[Suite], profile: Profile) -> None:
    """Raise ConfigurationError if the suites or the profile cannot fit a calibrator."""
    if SuiteName.NOVELTY not in {suite.name for suite in suites}:
        raise ConfigurationError(f"--calibrate: only suite {SuiteName.NOVELTY} fits a calibrator")
    if profile.novelty.calibrator is not None:
        raise ConfigurationError(
            "--calibrate: the profile names a calibrator already; take `calibrator` out of its"
            " [novelty] to fit one"
        )


def profile_without(profile: Profile, text: str) -> Profile:
    """Return the profile without the parts in `text`, under another name.

    Args:
        text: names of `ABLATIONS`, such as `mre,pa`.

    Raises:
        ConfigurationError: an unknown part.
    """
    names = _names("without", text.lower().replace("-", ""), tuple(ABLATIONS))
    for name in names:
        part, switch = ABLATIONS[name]
        changed_part = replace(getattr(profile, part), **{switch: False})
        profile = replace(profile, **{part: changed_part})
    return replace(profile, name="-".join([profile.name, *(["without", *names] if names else [])]))


def _names(option: str, text: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct names of a comma-separated list.

    Raises:
        ConfigurationError: one is not among the choices.
    """
    names = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    if unknown_names := [name for name in names if name not in choices]:
        raise ConfigurationError(
            f"--{option} {text!r}: {', '.join(unknown_names)}; choose from {', '.join(choices)}"
        )
    return names


def _folder(suites: Sequence[Suite], data: Path | None, settings: Settings) -> Path | None:
    """Return the folder of the data sets.

    The result is None if no suite reads any.
    """
    folder = data if data is not None else settings.data
    if folder is None:
        if not any(suite.reads_data for suite in suites):
            return None
        raise ConfigurationError(
            "the suites read data sets: pass their folder with --data DIR, or set ASSAY_DATA"
        )
    if not folder.is_dir():
        raise ConfigurationError(
            f"--data {folder} is no folder; name the one that holds the data sets"
        )
    return folder.resolve()


def _default_literature(data: Path | None, settings: Settings) -> LiteratureChoice:
    """Return the default literature.

    It is the data folder's papers, else the live API if there is a key, else the sample.
    """
    if data is not None and (path := data / LITERATURE_FILE).exists():
        return LiteratureChoice(path)
    if settings.semantic_scholar_api_key:
        return LIVE
    return LiteratureChoice(sample_file("papers.jsonl"))


def unit_of(
    suite: Suite,
    data: Path | None,
    profile: Profile,
    parameters: BenchmarkParameters,
    settings: Settings,
) -> SuiteUnit:
    """Return a suite's unit, with hashes of all that affects scores.

    Raises:
        ConfigurationError: a file is missing.
    """
    folder = data if suite.reads_data else None
    return SuiteUnit(
        suite=suite.name,
        data=folder,
        data_sha256=data_sha256(suite, folder),
        prompt_sha256=prompts_sha256(suite, suite.modules_of(parameters)),
        conditions=(
            f"assay {metadata.version('assay')}",
            f"profile {content_hash(profile.model_dump_json())}",
            embedding_identity(settings),
            *suite.conditions(profile, parameters, folder),
        ),
        evaluated_run_id=parameters.evaluated_run,
    )


def data_sha256(suite: Suite, data: Path | None) -> str:
    """Return a hash over the suite's required and available optional data files.

    Raises:
        ConfigurationError: a file is missing.
    """
    if data is None:
        return content_hash()
    missing = [name for name in suite.files if not (data / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"suite {suite.name} reads {', '.join(missing)}, not found in {data}: pass the folder"
            " with --data DIR"
        )
    optional_files = sorted(
        str(path.relative_to(data))
        for pattern in suite.optional
        for path in data.glob(pattern)
        if path.is_file()
    )
    return content_hash(
        *(f"{name} {_file_sha256(data / name)}" for name in (*suite.files, *optional_files))
    )


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prompts_sha256(suite: Suite, modules: Iterable[Module]) -> str:
    """Return a hash over the prompts of the suite and `modules`."""
    steps = [*suite.steps]
    for module in modules:
        steps += resolve_name(f"tasks.{module}.steps:STEPS")
    return content_hash(*sorted(prompts_of(steps)))


async def run_suite(unit: SuiteUnit, tools: Tools) -> BenchmarkRun:
    """Run one suite in a thread, because it computes and blocks."""
    trial = Trial(unit, tools, asyncio.get_running_loop())
    await asyncio.to_thread(SUITES[unit.suite].run, trial)
    models = {call.model_answered for call in trial.calls if call.model_answered is not None}
    empty_run = _empty_run(unit, tools.request)
    return replace(
        empty_run,
        model_answered=", ".join(sorted(models)) or None,
        evaluated_run_ids=tuple(dict.fromkeys(trial.evaluated_run_ids)),
        incomplete_reason=trial.missing_reason,
        scores=(*trial.scores, *published_scores(unit.suite)),
        items=tuple(trial.items),
        calls=tuple({call.call_id: call for call in trial.calls}.values()),
        created_at=datetime.now(UTC),
    )


def _failed_run(unit: SuiteUnit, tools: Tools, cause: Cause) -> BenchmarkRun:
    failure = Failure(
        stage=BENCHMARKS.word, subject=unit.suite, reason=cause.reason, detail=cause.text
    )
    empty_run = _empty_run(unit, tools.request)
    return replace(empty_run, incomplete_reason=cause.reason, failures=(failure,))


def _empty_run(unit: SuiteUnit, request: BenchmarkRequest) -> BenchmarkRun:
    return BenchmarkRun(
        suite=unit.suite,
        engine=request.engine.text,
        model_answered=None,
        profile=request.profile.name,
        seed=request.parameters.seed,
        data_sha256=unit.data_sha256,
        prompt_sha256=unit.prompt_sha256,
        created_at=datetime.now(UTC),
        scores=(),
    )


def _expect(request: BenchmarkRequest, settings: Settings) -> Expected:
    """Estimate the calls of suites without results."""
    items: dict[str, int] = {}
    steps: list[CallsByStep] = []
    ideas = 0
    for unit in request.units:
        estimate = SUITES[unit.suite].expects(SuiteData(request, unit, settings))
        items[unit.suite] = estimate.items
        steps += (
            {
                one.step: ExpectedCalls(
                    one.calls,
                    one.calls * one.prompt_tokens,
                    one.calls * one.reply_tokens,
                    first_calls=one.first_calls,
                )
            }
            for one in estimate.calls
        )
        if SUITES[unit.suite].evaluates(request.parameters):
            ideas += len(estimate.ideas)
    return Expected(
        per_step=add_calls(steps),
        counts={"items": sum(items.values()), "evaluated_ideas": ideas},
        note="estimate without cached answers; lengths of replies may differ by half",
    )


def _head(request: BenchmarkRequest) -> Mapping[str, Any]:
    (unit,) = request.units
    suite, parameters = SUITES[unit.suite], request.parameters
    return {
        **unit.model_dump(include={"suite", "data_sha256", "prompt_sha256"}),
        "seed": parameters.seed,
        "labels_public_since": suite.labels_public_since,
        "judge_training_until": training_until(request.engine, parameters.training_until),
        "judge": parameters.judge,
        "literature": parameters.literature.text if suite.modules_of(parameters) else "",
        "assay_version": metadata.version("assay"),
    }


def _steps(request: BenchmarkRequest) -> tuple[Step[Any, Any], ...]:
    return tuple(dict.fromkeys(step for unit in request.units for step in SUITES[unit.suite].steps))


def _figures(page: Any, request: BenchmarkRequest | None) -> Mapping[str, Any]:
    """Return the benchmarks compared with a page's own, and the differences."""
    if request is None or not request.units[0].compared:
        return {}
    run_ids = tuple(dict.fromkeys((page.head.run_id, *request.units[0].compared)))
    with page.warehouse.queries() as queries:
        others = tuple(
            (
                published_head(queries.connection, BENCHMARKS, each),
                published_units(queries.connection, BENCHMARKS, each),
            )
            for each in run_ids[1:]
        )
        rows = differences(queries, run_ids, request.parameters.seed)
    return {"others": others, "differences": rows}


BenchmarkSummary = Summary[BenchmarkHead]


def run_suites(request: BenchmarkRequest, settings: Settings, runs: Runs) -> BenchmarkSummary:
    """Run each suite.

    Return the first published summary, with the faults of the others.

    Raises:
        ConfigurationError: invalid data, or a suite without ideas to evaluate.
        PublicationError: an evaluation was not published.
    """
    summaries = [
        _run_suite(replace(request, units=(unit,)), settings, runs) for unit in request.units
    ]
    published_summaries = [each for each in summaries if each.published]
    if not published_summaries:
        return summaries[0]
    first, *_ = published_summaries
    faults = tuple(
        f"{each.head.run_id} not published: {line}"
        for each in summaries
        for line in each.failed_expectations
    )
    reasons = [each.head.incomplete_reason for each in published_summaries]
    budget_exhausted = Reason.BUDGET_EXHAUSTED in reasons
    incomplete_reason = (
        Reason.BUDGET_EXHAUSTED if budget_exhausted else next(filter(None, reasons), None)
    )
    head = replace(first.head, incomplete_reason=incomplete_reason)
    return replace(first, head=head, faults=(*first.faults, *faults))


def _run_suite(request: BenchmarkRequest, settings: Settings, runs: Runs) -> BenchmarkSummary:
    (unit,) = request.units
    suite, parameters = SUITES[unit.suite], request.parameters
    # The suite reads the lake in this process; only the evaluation of its ideas uses workers.
    local_request = replace(
        request,
        workers=None,
        scheduler_address=None,
        literature=parameters.literature if suite.searches(request) else None,
    )
    warehouse, run_id = (
        Warehouse(request.warehouse, settings),
        runs.run_id("benchmark", local_request),
    )
    receipt = complete_receipt(warehouse, BENCHMARKS, run_id, unit.suite)
    if receipt is None and suite.ideas is not None and suite.evaluates(parameters):
        ideas = suite.ideas(SuiteData(request, unit, settings))
        if not ideas:
            raise ConfigurationError(
                f"suite {unit.suite} has no idea to evaluate: look at its data file"
            )
        path = folder_of(warehouse, run_id) / "ideas.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_ideas(ideas, path)
        evaluation_head = runs("evaluate", evaluation_of(request, path)).published_head()
        unit = replace(unit, evaluated_run_id=evaluation_head.run_id)
    return runs("benchmark", replace(local_request, units=(unit,)))


def evaluation_of(
    request: BenchmarkRequest, ideas: Path, cutoff_date: date | None = None
) -> RunRequest:
    """Return the request that evaluates a suite's ideas in a file.

    Args:
        cutoff_date: of ideas without one.
    """
    (unit,) = request.units
    parameters = request.parameters
    return RunRequest(
        units=(GivenIdeas(path=ideas),),
        literature=parameters.literature,
        parameters=EvaluationParameters(modules=SUITES[unit.suite].modules_of(parameters)),
        **request.command_fields,
        cutoff_date=cutoff_date,
        full_text=parameters.full_text,
    )


def _follows(request: BenchmarkRequest, settings: Settings, folder: Path) -> Iterator[Follow]:
    """Yield the evaluations of the suites' ideas.

    They are estimated by the idea of median length.
    """
    for unit in request.units:
        one, suite = replace(request, units=(unit,)), SUITES[unit.suite]
        if suite.evaluates(request.parameters) and suite.modules_of(request.parameters):
            estimate = suite.expects(SuiteData(one, unit, settings))
            ideas = sorted(estimate.ideas, key=lambda idea: len(idea.text))
            if ideas:
                usual = ideas[len(ideas) // 2]
                path = folder / f"{unit.suite}.md"
                path.write_text(usual.text, "utf-8")
                yield "evaluate", evaluation_of(one, path, usual.cutoff_date), len(ideas)


BENCHMARK: Work[SuiteUnit, BenchmarkParameters, BenchmarkRun] = Work(
    job=BenchmarkJob,
    given=lambda job, _: (job.suite,),
    resolve=_resolve,
    identity=("suite", "data_sha256", "prompt_sha256", "conditions"),
    schema=BENCHMARKS,
    steps=_steps,
    do=run_suite,
    failed=_failed_run,
    expects=_expect,
    result=lambda *_: Result("measured", in_order=True),
    head=_head,
    figures=_figures,
    run=run_suites,
    follows=_follows,
)
