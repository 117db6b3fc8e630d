"""Options of the commands, for the command line, Python calls and job requests."""

from pathlib import Path
from typing import Annotated, ClassVar

from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.judgement.ranking import Grouping, RatingMethod
from schemas.options.values import (
    DEFAULT_PROFILE,
    DEFAULT_WAREHOUSE,
    ENGINES,
    LITERATURES,
    MODULES,
    ApiBase,
    Batch,
    Cutoff,
    Engine,
    Experiment,
    Fields,
    Label,
    Literature,
    Modules,
    Names,
    Options,
    Profile,
    Survey,
    Warehouse,
    Workers,
    from_text,
    from_texts,
    option,
    parse_modules,
    parse_names,
)
from schemas.place import WarehouseFolder
from schemas.run import BatchFailures, Budget, Module

_LIMITS = {
    "max_cost_usd": "maximum_cost_usd",
    "max_tokens": "maximum_tokens",
    "max_requests": "maximum_requests",
    "max_cost_usd_per_idea": "maximum_cost_usd_per_idea",
    "max_cost_usd_per_paper": "maximum_cost_usd_per_idea",
    "max_cost_usd_per_task": "maximum_cost_usd_per_idea",
}
"""Limits of a budget by option."""


def _parse_scale(texts: tuple[str, ...]) -> tuple[str, ...]:
    names = parse_names(texts)
    if len(names) < 2:
        raise ConfigurationError(
            f"--scale {','.join(texts)!r}: name two outcomes or more, worst first"
        )
    return names


class LakeOptions(Options):
    """Options of every command that uses the lake."""

    warehouse: Warehouse = DEFAULT_WAREHOUSE


class DemoOptions(LakeOptions):
    """Options of `assay demo`, which has a separate warehouse."""

    warehouse: WarehouseFolder = option(
        Path("demo-warehouse"), "DIR", "Folder of the demo's warehouse."
    )
    workers: Workers = None


class DoctorOptions(LakeOptions):
    """Options of `assay doctor`."""

    # Not an EngineChoice: an invalid name is one of the doctor's findings.
    engine: str = option(EXTRACTIVE.text, "NAME", ENGINES)
    api_base: ApiBase = None
    profile: Profile = DEFAULT_PROFILE


class WorkOptions(LakeOptions):
    """Options of every command with workers and a budget."""

    api_base: ApiBase = None
    workers: Workers = None
    scheduler: str | None = option(
        None, "ADDRESS", "An existing Dask scheduler, such as tcp://host:8786."
    )
    max_cost_usd: float | None = option(None, "X", "End early when this much has been spent.", ge=0)
    max_tokens: int | None = option(None, "N", "End early after this many model tokens.", ge=0)

    @property
    def budget(self) -> Budget:
        """Return the budget; without an option there is no limit."""
        limits = {name: limit for name, limit in _LIMITS.items() if name in type(self).model_fields}
        return Budget(**{limit: getattr(self, name) for name, limit in limits.items()})


class DeclaredOptions(WorkOptions):
    """Options of every kind of work.

    `literature_is_optional`: whether no literature is used unless one is named.
    """

    literature_is_optional: ClassVar[bool] = False

    engine: Engine = EXTRACTIVE
    profile: Profile = DEFAULT_PROFILE
    dry_run: bool = option(False, "", "Say what it would ask and cost, and ask nothing.")

    @classmethod
    def unit_word(cls) -> str:
        """Return the word for a unit in the option for its maximum cost."""
        prefix = "max_cost_usd_per_"
        unit_words = (
            name.removeprefix(prefix) for name in cls.model_fields if name.startswith(prefix)
        )
        return next(unit_words, "unit")


class IdeaOptions(WorkOptions):
    """Options of every command that evaluates ideas."""

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


class EvaluatingOptions(IdeaOptions):
    """Options of commands that can evaluate ideas."""

    batch: Batch = None
    batch_failures: BatchFailures = option(
        BatchFailures.CALL,
        "|".join(BatchFailures),
        "Questions without a reply in a batch: asked by a call, or unscored.",
    )
    survey: Survey = False
    experiment: Experiment = ()
    cutoff: Cutoff = None
    label: Label = ""
    field: Fields = ()


class RunOptions(EvaluatingOptions):
    """Options of an evaluation, common to `assay evaluate` and `assay plan`."""

    profile: Profile = DEFAULT_PROFILE
    engine: Engine = EXTRACTIVE
    modules: Modules = (Module.SOUNDNESS, Module.CONTRIBUTION)


class EvaluateOptions(RunOptions, DeclaredOptions):
    """Options of `assay evaluate`."""

    again: str | None = option(
        None,
        "RUN",
        "Instead of IDEAS: the ideas of an earlier run, against the literature as it is now or"
        " with a later --cutoff. Engine, profile and modules are the run's unless said.",
    )
    rank: bool = option(
        False, "", "Then let the ideas of each group meet in pairs, as `assay rank` does."
    )


class PlanOptions(RunOptions):
    """Options of `assay plan`."""

    compare: tuple[str, ...] = option(
        (),
        "MODEL",
        "Estimate the same run with this model too, such as openai/gpt-5; repeatable, or a list"
        " with commas.",
    )


VOTES_IN_LAKE = Path("lake")
"""Value of `--votes` for the votes on the dashboard."""


class RankOptions(EvaluatingOptions, DeclaredOptions):
    """Options of `assay rank`; defaults are those of the run."""

    literature_is_optional: ClassVar[bool] = True

    # None: those of the run.
    profile: str | None = option(  # type: ignore[assignment]
        None, "NAME|FILE", "Default: the profile of the run."
    )
    engine: EngineChoice | None = option(  # type: ignore[assignment]
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
        "Ratings shown: `bradley_terry`, or with --votes `elo`, which counts human votes too and is "
        "their default.",
    )
    votes: Path | None = option(
        None,
        "FILE|lake",
        "Human votes: a file, JSON Lines or CSV (first, second, winner, voter, …), or `lake`: those"
        " cast on the dashboard.",
    )
    bridge_pairs: int | None = option(
        None,
        "N",
        "Let each group meet others in at most N pairs, so that strengths compare across groups. "
        "Default: the profile's.",
        ge=0,
    )
    project: Path | None = option(
        None,
        "FILE",
        "A project file: ideas enter the ranking once they are approved, by its rules or by those "
        "it asks (`assay inbox`).",
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
        from_text(parse_modules),
        option(..., "LIST", f"For IDEAS that are evaluated first. {MODULES}"),
    ] = None

    @property
    def evaluation(self) -> RunOptions:
        """Return the options for evaluating ideas first."""
        values = {name: getattr(self, name) for name in RunOptions.model_fields}
        return RunOptions(**{name: value for name, value in values.items() if value is not None})


class PriorOptions(LakeOptions):
    """Options of `assay prior`."""

    outcome: str = option(..., "FIELD", "Field of the ideas, as given, that holds their outcome.")
    scale: Annotated[tuple[str, ...], from_texts(_parse_scale)] = option(
        ..., "LIST", "The outcomes, comma-separated, worst first: `reject,poster,oral`."
    )
    output: Path = option(Path("prior.json"), "FILE", "Where the prior is written.")
    field: Fields = ()


class SearchOptions(Options):
    """Options of `assay literature search`."""

    literature: Literature = None
    limit: int = option(10, "N", "Papers to show.", ge=1, le=100)
    cutoff: Cutoff = None


class RecommendOptions(LakeOptions):
    """Options of `assay recommend`."""

    literature: Literature = None
    idea: str | None = option(None, "ID", "Which idea of a file that holds several.")
    cutoff: Cutoff = None
    field: Fields = ()
    works: int = option(25, "N", "Works near the idea to learn from.", ge=1, le=200)
    limit: int = option(5, "N", "Recommendations of each kind.", ge=1, le=50)


class DraftOptions(LakeOptions):
    """Options of `assay experiment init`."""

    run: str | None = option(
        None, "RUN", "With --idea: the run that evaluated it. Default: the newest."
    )
    field: Fields = ()
    literature: Literature = None


class AuditOptions(Options):
    """Options of `assay literature audit`."""

    beside: tuple[str, ...] = option(
        (), LITERATURES, "Another source of the same papers to agree with; repeatable."
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
