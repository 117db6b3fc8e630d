"""Which tables hold what a module found out. A module added here lands, reads back, is checked and reported like the others."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.committee import CommitteeEvaluation
from schemas.contribution import ContributionEvaluation
from schemas.evaluation import ModuleEvaluation
from schemas.novelty import NoveltyEvaluation
from schemas.soundness import SoundnessEvaluation


@dataclass(frozen=True, slots=True)
class Held:
    """One field of a module's evaluation and the table that holds it.

    Attributes:
        single: whether the field is one noun or None rather than a tuple.
        beside: (field, column): another field of the evaluation, as long as this one, whose values stand in a column of their own.
        renamed: columns by the field of the noun or its provenance that they hold, where the names differ.
    """

    table: str
    single: bool = False
    beside: tuple[str, str] | None = None
    renamed: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ModuleRows:
    """A module's evaluation and, by field, where it is held. `failures` are held for all modules together."""

    kind: type[ModuleEvaluation]
    fields: Mapping[str, Held]


MODULE_ROWS: dict[str, ModuleRows] = {
    "soundness": ModuleRows(
        SoundnessEvaluation,
        {
            "methods": Held("methods"),
            "passages": Held("passages", beside=("passage_method_ids", "method_id")),
            "sections": Held("paper_sections"),
            "evidence": Held("method_evidence"),
            "reviews": Held("soundness_reviews"),
            "elements": Held("plan_elements"),
            "concerns": Held("concerns"),
            "plan_review": Held("plan_reviews", single=True),
            "summary": Held("soundness_summaries", single=True),
        },
    ),
    "contribution": ModuleRows(
        ContributionEvaluation,
        {
            "dimensions": Held("dimensions"),
            "candidates": Held("candidates", renamed={"model_seed": "seed"}),
            "comparisons": Held("comparisons"),
            "reviews": Held("contribution_reviews"),
        },
    ),
    "committee": ModuleRows(
        CommitteeEvaluation,
        {
            "claims": Held("claims"),
            "knowledge": Held("knowledge_items"),
            "evidence": Held("evidence"),
            "reviews": Held("persona_reviews"),
            "meta_review": Held("meta_reviews", single=True),
        },
    ),
    "novelty": ModuleRows(NoveltyEvaluation, {"judgement": Held("novelty", single=True)}),
}
"""By the name of the field of `IdeaEvaluation`."""
