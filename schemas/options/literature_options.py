"""The options of the commands that ask the literature and judge nothing."""

from schemas.options.commands import LakeOptions
from schemas.options.values import LITERATURES, Cutoff, Fields, Literature, Names, Options, option


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
    field: Fields = ()
    works: int = option(25, "N", "Works near the idea to learn from.", ge=1, le=200)
    limit: int = option(5, "N", "Recommendations of each kind.", ge=1, le=50)


class DraftOptions(LakeOptions):
    """Of `assay experiment init`."""

    run: str | None = option(
        None, "RUN", "With --idea: the run that evaluated it. Default: the newest."
    )
    field: Fields = ()
    literature: Literature = None


class AuditOptions(Options):
    """Of `assay literature audit`."""

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
