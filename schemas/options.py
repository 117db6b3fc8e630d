"""The options of the commands: names, meanings, defaults and bounds, each declared once.

A field `max_cost_usd` is the option `--max-cost-usd`. The command line, a Python call and the
requests of jobs (`schemas/job.py`) read these models; `flows` resolves them.
"""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from schemas.base import Noun
from schemas.benchmark import JudgeWording, SubmissionText
from schemas.choices import EXTRACTIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.idea import cutoff_day
from schemas.judging import Effort
from schemas.ranking import Grouping, RatingMethod
from schemas.run import BatchFailures, Budget, Module

MOST_WORKERS = 256
MOST_PROBLEMS, MOST_REPETITIONS = 20, 25
DEFAULT_PROFILE = "economy"
DEFAULT_WAREHOUSE = Path("assay-warehouse")


def option(
    default: Any, metavar: str, description: str, variable: str | None = None, **bounds: Any
) -> Any:
    """A field that is an option.

    Args:
        default: `...` where each command says it.
        metavar: stands for the value in help texts; empty for a flag.
        variable: of the environment, which says the value on the command line where it is not
            given.
    """
    extra: dict[str, Any] = {"metavar": metavar, "variable": variable}
    return Field(default, description=description, json_schema_extra=extra, **bounds)


def flag_of(field: str) -> str:
    """How a field is written on the command line."""
    return f"--{field.replace('_', '-')}"


def parse_modules(text: str) -> tuple[Module, ...]:
    """`soundness,contribution` → modules, in order and once each.

    Raises:
        ConfigurationError: an unknown or empty list.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(Module)]
    if unknown or not names:
        raise ConfigurationError(
            f"--modules {text!r}: {', '.join(unknown) or 'nothing named'}; "
            f"choose from {', '.join(Module)}"
        )
    return tuple(Module(name) for name in dict.fromkeys(names))


def parse_cutoff(text: str) -> date:
    """Raises ConfigurationError when `text` is neither a YYYY-MM-DD date nor a YYYY-MM month."""
    try:
        return cutoff_day(text)
    except ValueError as error:
        raise ConfigurationError(
            f"--cutoff {text!r} is no date; write it as YYYY-MM-DD, or YYYY-MM"
        ) from error


def _parse_suite_modules(text: str) -> tuple[Module, ...]:
    return () if text.strip() == "none" else parse_modules(text)


def _parse_scale(given: str | tuple[str, ...]) -> tuple[str, ...]:
    text = given if isinstance(given, str) else ",".join(given)
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) < 2:
        raise ConfigurationError(f"--scale {text!r}: name two outcomes or more, worst first")
    return names


def _read_by(parse: Callable[[str], Any]) -> BeforeValidator:
    """The value itself is taken too."""
    return BeforeValidator(lambda given: parse(given) if isinstance(given, str) else given)


_LITERATURES = "snapshot:PATH|live|URL"
_ENGINES = "`extractive` (offline baseline) or `litellm:MODEL`."
_MODULES = f"Comma-separated: {', '.join(Module)}."

Warehouse = Annotated[
    Path,
    option(
        ...,
        "DIR",
        "Folder of the warehouse: landing, lake, caches, reports.",
        variable="ASSAY_WAREHOUSE",
    ),
]
Profile = Annotated[
    str, option(..., "NAME|FILE", "`economy`, `faithful`, or the path of a profile file.")
]
Engine = Annotated[EngineChoice, option(..., "NAME", _ENGINES)]
ApiBase = Annotated[str | None, option(..., "URL", "An OpenAI-compatible server for the model.")]
Literature = Annotated[
    LiteratureChoice | None,
    option(
        ...,
        _LITERATURES,
        "Where papers come from. Default: live when a key is set, else the bundled sample.",
    ),
]
Modules = Annotated[tuple[Module, ...], _read_by(parse_modules), option(..., "LIST", _MODULES)]
Survey = Annotated[
    bool,
    option(
        ...,
        "",
        "Survey each idea first, along references and citations: soundness, contribution and "
        "novelty draw on what that finds.",
    ),
]
Cutoff = Annotated[
    date | None,
    _read_by(parse_cutoff),
    option(..., "DATE", "For ideas without a date of their own: cite nothing published after it."),
]
Label = Annotated[
    str, option(..., "TEXT", "Part of the evaluation key: a new label evaluates anew.")
]
Workers = Annotated[
    int | None,
    option(
        ...,
        "N",
        "Worker processes of a local cluster. Default: none for a handful, else 2.",
        ge=1,
        le=MOST_WORKERS,
    ),
]


Batch = Annotated[
    bool | None,
    option(
        ...,
        "",
        "Ask through the provider's batches: half the price, hours instead of minutes. Default: as "
        "the profile says.",
    ),
]


def _parse_names(given: str | tuple[str, ...]) -> tuple[str, ...]:
    text = given if isinstance(given, str) else ",".join(given)
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_parse_names),
    option(..., "ID", "Proposals by identifier; repeatable, or a list with commas."),
]


class Options(Noun):
    """What was asked of a command, as it was written.

    Raises on construction:
        ConfigurationError: a value that cannot be meant, in one line that names its option.
    """

    # Not strict: options come as text, from a command line or as JSON.
    model_config = ConfigDict(defer_build=True, strict=False)

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            name = flag_of(str(first["loc"][0]))
            raise ConfigurationError(f"{name} {first['input']!r}: {first['msg']}") from error


def written(value: Any) -> str:
    """The value of an option as it is written."""
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


class LakeOptions(Options):
    """Of every command that touches the lake."""

    warehouse: Warehouse = DEFAULT_WAREHOUSE


class SearchOptions(Options):
    """Of `assay literature search`."""

    literature: Literature = None
    limit: int = option(10, "N", "Papers to show.", ge=1, le=100)
    cutoff: Cutoff = None


class RecommendOptions(LakeOptions):
    """Of `assay recommend`."""

    literature: Literature = None
    idea: str | None = option(None, "ID", "Which idea of a file that holds several.")
    cutoff: Cutoff = None
    works: int = option(25, "N", "Works near the idea to learn from.", ge=1, le=200)
    limit: int = option(5, "N", "Recommendations of each kind.", ge=1, le=50)


class AuditOptions(Options):
    """Of `assay literature audit`."""

    beside: tuple[str, ...] = option(
        (), _LITERATURES, "Another source of the same papers to agree with; repeatable."
    )
    rule: tuple[str, ...] = option((), "NAME", "Show what this rule found; repeatable.")
    accept_rule: tuple[str, ...] = option(
        (), "NAME", "Accept what this rule proposes and is sure of; repeatable."
    )
    accept: Names = ()
    reject: Names = ()
    undo: Names = ()
    confidence: float = option(
        0.8, "X", "How sure a proposal must be to be accepted with its rule.", ge=0, le=1
    )
    limit: int = option(20, "N", "Proposals to show.", ge=0, le=100_000)
    most_papers: int = option(
        1_000, "N", "Papers to ask a live source about, the most doubtful first.", ge=1
    )


class DemoOptions(LakeOptions):
    """Of `assay demo`, which keeps to a folder of its own."""

    warehouse: Path = option(Path("demo-warehouse"), "DIR", "Folder of the warehouse it makes.")
    workers: Workers = None


class DoctorOptions(LakeOptions):
    """Of `assay doctor`. What is wrong with the engine's name is one of its findings."""

    engine: str = option(EXTRACTIVE.text, "NAME", _ENGINES)
    api_base: ApiBase = None
    profile: Profile = DEFAULT_PROFILE


class WorkOptions(LakeOptions):
    """Of every command whose work goes to a cluster and may be paid for."""

    api_base: ApiBase = None
    workers: Workers = None
    scheduler: str | None = option(
        None, "ADDRESS", "An existing Dask scheduler, such as tcp://host:8786."
    )
    max_cost_usd: float | None = option(None, "X", "End early when this much has been spent.", ge=0)
    max_tokens: int | None = option(None, "N", "End early after this many model tokens.", ge=0)


class IdeaOptions(WorkOptions):
    """Of every command that evaluates ideas."""

    literature: Literature = None
    full_text: bool | None = option(
        None, "", "Download and parse papers. Default: yes, except for snapshots."
    )
    max_cost_usd_per_idea: float | None = option(
        None, "X", "Leave an idea when it has spent this much.", ge=0
    )
    max_requests: int | None = option(
        None, "N", "End early after this many literature requests.", ge=0
    )

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return Budget(
            maximum_cost_usd=self.max_cost_usd,
            maximum_tokens=self.max_tokens,
            maximum_requests=self.max_requests,
            maximum_cost_usd_per_idea=self.max_cost_usd_per_idea,
        )


class RunOptions(IdeaOptions):
    """How ideas are evaluated, which `assay evaluate` and `assay plan` take alike."""

    batch: Batch = None
    batch_failures: BatchFailures = option(
        BatchFailures.CALL,
        "|".join(BatchFailures),
        "Questions a batch leaves without an answer: asked by a call, or unscored.",
    )

    profile: Profile = DEFAULT_PROFILE
    engine: Engine = EXTRACTIVE
    modules: Modules = (Module.SOUNDNESS, Module.CONTRIBUTION)
    survey: Survey = False
    cutoff: Cutoff = None
    label: Label = ""


class EvaluateOptions(RunOptions):
    """Of `assay evaluate`."""

    rank: bool = option(
        False, "", "Then let the ideas of each group meet in pairs, as `assay rank` does."
    )


class PlanOptions(RunOptions):
    """Of `assay plan`."""

    compare: tuple[str, ...] = option(
        (),
        "MODEL",
        "What the same run would cost with this model, such as openai/gpt-5; may be repeated, "
        "or a list with commas.",
    )


class RankOptions(IdeaOptions):
    """Of `assay rank`; what is not said is taken from the run."""

    profile: str | None = option(None, "NAME|FILE", "Default: the profile of the run.")
    engine: EngineChoice | None = option(
        None, "NAME", "Judge of the matches. Default: the run's engine."
    )
    group_by: Grouping = option(
        Grouping.GIVEN,
        "|".join(Grouping),
        "`given`: the groups of the idea file; `clusters`: ideas on one subject, found by "
        "embedding.",
    )
    method: RatingMethod | None = option(
        None,
        "|".join(RatingMethod),
        "Ratings shown: `bradley_terry`, or `elo`, which counts human votes too. Default: elo "
        "with --votes.",
    )
    votes: Path | None = option(
        None, "FILE", "Human votes, JSON Lines or CSV: first, second, winner, voter, …"
    )
    bridge_pairs: int | None = option(
        None,
        "N",
        "Let each group meet others in at most N pairs, so that strengths compare across groups. "
        "Default: the profile's.",
        ge=0,
    )
    scores: bool = option(
        False, "", "Rank by the scores of the evaluation: no matches, nothing paid."
    )
    shrink: bool = option(
        False,
        "",
        "With --scores: first draw scores that rest on little toward the mean of their group.",
    )
    modules: Annotated[
        tuple[Module, ...] | None,
        _read_by(parse_modules),
        option(..., "LIST", f"For IDEAS that are evaluated first. {_MODULES}"),
    ] = None
    survey: Survey = False
    cutoff: Cutoff = None
    label: Label = ""
    batch: Batch = None
    batch_failures: BatchFailures = option(
        BatchFailures.CALL, "|".join(BatchFailures), "As of `assay evaluate`."
    )

    @property
    def evaluation(self) -> RunOptions:
        """How ideas are evaluated that are not yet."""
        said = {name: getattr(self, name) for name in RunOptions.model_fields}
        return RunOptions(**{name: value for name, value in said.items() if value is not None})


class PriorOptions(LakeOptions):
    """Of `assay prior`."""

    outcome: str = option(..., "FIELD", "Field of the ideas, as given, that holds their outcome.")
    scale: Annotated[tuple[str, ...], BeforeValidator(_parse_scale)] = option(
        ..., "LIST", "The outcomes, comma-separated, worst first: `reject,poster,oral`."
    )
    output: Path = option(Path("prior.json"), "FILE", "Where the prior is written.")


class CheckOptions(WorkOptions):
    """Of `assay check`."""

    engine: Engine = EXTRACTIVE
    form: str = option(
        "auto", "auto|pdf|text|latex", "How the engine gets it; `pdf` attaches the file."
    )
    problems: int = option(5, "K", "Most problems an attempt reports.", ge=1, le=MOST_PROBLEMS)
    attempts: int = option(
        1, "N", "Independent attempts at each manuscript.", ge=1, le=MOST_REPETITIONS
    )
    judge: tuple[str, ...] = option(
        (), "ENGINE[@URL]", "Judges hits against --reasons; repeatable. Default: the engine itself."
    )
    repetitions: int = option(
        1, "M", "Answers of each judge; the most frequent counts.", ge=1, le=MOST_REPETITIONS
    )
    reasons: Path | None = option(
        None, "FILE", "Why authors withdrew: JSON Lines or CSV with manuscript, reason."
    )
    seed: int = option(42, "N", "Seed of the first attempt; the next ones follow.", ge=0)
    effort: Effort = option(
        Effort.MEDIUM, "|".join(Effort), "How much models that can think are asked to think."
    )
    max_cost_usd_per_paper: float | None = option(
        None, "X", "Leave a manuscript when it has spent this much.", ge=0
    )

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return Budget(
            maximum_cost_usd=self.max_cost_usd,
            maximum_tokens=self.max_tokens,
            maximum_cost_usd_per_idea=self.max_cost_usd_per_paper,
        )


class SurveyOptions(WorkOptions):
    """Of `assay survey`."""

    literature: Literature = None
    engine: Engine = EXTRACTIVE
    profile: Profile = DEFAULT_PROFILE
    depth: int = option(
        2, "N", "Hops along references and citations; 0: searches alone.", ge=0, le=4
    )
    max_papers: int = option(200, "N", "Most papers kept of a question.", ge=1, le=2_000)
    max_judged: int = option(
        800, "N", "Most papers judged for relevance, of all layers together.", ge=1, le=20_000
    )
    papers_read: int = option(
        40,
        "N",
        "Heaviest papers that a model reads to write the review; 0: none is written.",
        ge=0,
        le=200,
    )
    full_text: bool | None = option(
        None, "", "Download and parse papers that are read. Default: yes, except for snapshots."
    )
    cutoff: Annotated[
        date | None,
        _read_by(parse_cutoff),
        option(..., "DATE", "Look at nothing published after it."),
    ] = None
    dry_run: bool = option(False, "", "Say what it would ask and cost, and ask nothing.")
    max_requests: int | None = option(
        None, "N", "End early after this many literature requests.", ge=0
    )

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return Budget(
            maximum_cost_usd=self.max_cost_usd,
            maximum_tokens=self.max_tokens,
            maximum_requests=self.max_requests,
        )


class BenchmarkOptions(IdeaOptions):
    """Of `assay benchmark`."""

    data: Path | None = option(
        None, "DIR", "Folder of the data sets. Default: the setting ASSAY_DATA."
    )
    profile: Profile = DEFAULT_PROFILE
    engine: Engine = EXTRACTIVE
    modules: Annotated[
        tuple[Module, ...] | None,
        _read_by(_parse_suite_modules),
        option(..., "LIST", f"{_MODULES} Or `none`: judge by the text. Default: the suite's."),
    ] = None
    run: str | None = option(
        None, "RUN", "A published run to judge instead of evaluating the ideas."
    )
    limit: int | None = option(
        None,
        "N",
        "Only N items of each set, drawn by the seed. Default: the whole set, or the suite's "
        "sample.",
        ge=1,
    )
    without: str = option(
        "", "LIST", "Parts of the method left out: mre, pa, pc (ScholarEval's ablations)."
    )
    baselines: str = option(
        "prompt_only,prompt_with_search,another_ideas_review",
        "LIST",
        "Systems to hold beside it: prompt_only, prompt_with_search, another_ideas_review; or none.",
    )
    check_links: bool = option(
        False, "", "Ask every cited address whether it exists (reference invalidity)."
    )
    seed: int = option(0, "N", "Of draws and of resampled intervals.", ge=0)
    compare: tuple[str, ...] = option(
        (), "ID", "A published benchmark to hold beside this one; may be repeated."
    )
    calibrate: Path | None = option(
        None,
        "OUT",
        "Suite novelty: write the calibrator it fits to this file, for a profile to name.",
    )
    text: SubmissionText = option(
        SubmissionText.ABSTRACT,
        "|".join(SubmissionText),
        "Suites decisions, pairs, groups: ideas from title and abstract, or from the full papers "
        "in DIR/papers.",
    )
    judge: JudgeWording = option(
        JudgeWording.OWN,
        "|".join(JudgeWording),
        "Suites coverage, critical_problems: ask the judge in Assay's words, or as plainly as the "
        "published judges were, for a figure that compares.",
    )
    training_until: Annotated[
        date | None,
        _read_by(parse_cutoff),
        option(..., "DATE", "How far the judge's training data reach. Default: as its maker says."),
    ] = None
    dry_run: bool = option(False, "", "Say what it would ask and cost, and ask nothing.")
