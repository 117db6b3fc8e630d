"""How much of an idea was scored, as its landed rows tell."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemas.failure import commonest_cause
from schemas.reasons import Reason, reason_named
from schemas.run import Module
from schemas.standing import IdeaStanding, ModuleStanding, standing_of_idea
from warehouse.rows import Rows


@dataclass(frozen=True, slots=True)
class _Judgements:
    """One table of judgements that a module's score is made of.

    Attributes:
        score: the column that holds the score; None: the judgement adds none of its own.
        about: the table whose rows have one judgement each; None: what is judged is not listed.
    """

    table: str
    score: str | None = None
    about: str | None = None


_JUDGEMENTS: dict[Module, tuple[_Judgements, ...]] = {
    Module.SOUNDNESS: (_Judgements("soundness_reviews", "score_0_to_10", about="methods"),),
    Module.CONTRIBUTION: (
        _Judgements("comparisons", "score"),
        _Judgements("contribution_reviews", about="dimensions"),
    ),
    Module.COMMITTEE: (_Judgements("persona_reviews", "score_0_to_10"),),
    Module.NOVELTY: (_Judgements("novelty", "score_1_to_5"),),
    Module.ASSESSMENT: (_Judgements("assessments", "probability_0_to_1"),),
}
VOTE_TABLE = "judge_votes"
"""A vote that could not be had leaves the judgement to the other judges: only the judgement's own
row says that it is unscored."""
_SUMMARIES = {Module.SOUNDNESS: "soundness_summaries", Module.COMMITTEE: "meta_reviews"}
"""Where a module says why nothing could be judged at all."""


def standing_of_rows(rows: Rows) -> IdeaStanding:
    """The standing of the one idea that `rows` are about."""
    (idea,) = rows["ideas"]
    assessed = idea[f"{Module.ASSESSMENT}_requested"]
    modules = [
        _of_module(module, rows, assessed) for module in Module if idea[f"{module}_requested"]
    ]
    why = reason_named(idea["incomplete_reason"])
    return standing_of_idea(modules, [*_failures("evaluate", rows), *([why] if why else [])])


def unanswered_in_rows(rows: Rows, why: Reason | None) -> dict[str, Any]:
    """Return `cause` and `unanswered` of the receipt of the one idea that `rows` are about.

    Args:
        why: its `state_reason`.
    """
    unanswered: dict[str, tuple[Reason, str]] = {}
    for table, found in rows.items():
        failed = [
            (reason, str(row.get("unscored_detail") or ""))
            for row in found
            if (reason := reason_named(row.get("unscored_reason"))) and reason.engine_failed
        ]
        if table != VOTE_TABLE and 2 * len(failed) > len(found):
            ((reason, _),) = Counter(reason for reason, _ in failed).most_common(1)
            details = (detail for each, detail in failed if each is reason)
            unanswered[table] = (reason, commonest_cause(details))
    causes = (str(row["detail"]) for row in rows.get("failures", ()) if row["reason"] == why)
    return {"cause": commonest_cause(causes), "unanswered": unanswered}


def _of_module(module: Module, rows: Rows, assessed: bool) -> ModuleStanding:
    """An idea that is `assessed` lacks nothing where there is no evidence to judge by."""
    parts = _JUDGEMENTS[module]
    scored = any(
        row[part.score] is not None
        for part in parts
        if part.score is not None
        for row in rows.get(part.table, ())
    )
    missing = any(
        part.about is not None and len(rows.get(part.about, ())) > len(rows.get(part.table, ()))
        for part in parts
    )
    tables = [part.table for part in parts]
    if not scored and module in _SUMMARIES:
        tables.append(_SUMMARIES[module])
    reasons = [
        reason
        for table in tables
        for row in rows.get(table, ())
        if (reason := reason_named(row["unscored_reason"])) is not None
    ]
    whole = scored and not missing and not reasons
    if not (whole or reasons):
        reasons = list(_failures(module, rows))
    if not (whole or reasons) and rows["ideas"][0]["field_covered"] is False:
        reasons = [Reason.FIELD_NOT_COVERED]  # it was asked nothing
    failed = [reason for reason in reasons if not reason.is_lack_of_evidence]
    if assessed and len(failed) < len(reasons) and not missing:
        reasons, whole = failed, not failed
    return ModuleStanding(scored=scored, whole=whole, reasons=tuple(reasons))


def _failures(stage: str, rows: Rows) -> Iterator[Reason]:
    """Why judgements are missing whose rows are missing too."""
    for row in rows.get("failures", ()):
        reason = reason_named(row["reason"])
        if row["stage"] == stage and reason is not None:
            yield reason
