"""Which tables hold what a module found out. A module added here lands, reads back, is checked and reported like the others."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.base import Noun
from schemas.committee import Claim, CommitteeEvaluation, GroundedEvidence, KnowledgeRecord, MetaReview, PersonaReview
from schemas.contribution import Candidate, Comparison, ContributionEvaluation, ContributionReview, Dimension
from schemas.evaluation import ModuleEvaluation
from schemas.novelty import NoveltyEvaluation, NoveltyJudgement
from schemas.paper import PaperSection, Passage
from schemas.soundness import Method, MethodEvidence, SoundnessEvaluation, SoundnessReview, SoundnessSummary


@dataclass(frozen=True, slots=True)
class Held:
    """One field of a module's evaluation and the table that holds it.

    Attributes:
        noun: what one row is; its fields bear the names of the columns.
        single: whether the field is one noun or None rather than a tuple.
        beside: (field, column): another field of the evaluation, as long as this one, whose values stand in a column of their own.
        renamed: columns by the field of the noun or its provenance that they hold, where the names differ.
    """

    table: str
    noun: type[Noun]
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
            "methods": Held("methods", Method),
            "passages": Held("passages", Passage, beside=("passage_method_ids", "method_id")),
            "sections": Held("paper_sections", PaperSection),
            "evidence": Held("method_evidence", MethodEvidence),
            "reviews": Held("soundness_reviews", SoundnessReview),
            "summary": Held("soundness_summaries", SoundnessSummary, single=True),
        },
    ),
    "contribution": ModuleRows(
        ContributionEvaluation,
        {
            "dimensions": Held("dimensions", Dimension),
            "candidates": Held("candidates", Candidate, renamed={"model_seed": "seed"}),
            "comparisons": Held("comparisons", Comparison),
            "reviews": Held("contribution_reviews", ContributionReview),
        },
    ),
    "committee": ModuleRows(
        CommitteeEvaluation,
        {
            "claims": Held("claims", Claim),
            "knowledge": Held("knowledge_items", KnowledgeRecord),
            "evidence": Held("evidence", GroundedEvidence),
            "reviews": Held("persona_reviews", PersonaReview),
            "meta_review": Held("meta_reviews", MetaReview, single=True),
        },
    ),
    "novelty": ModuleRows(NoveltyEvaluation, {"judgement": Held("novelty", NoveltyJudgement, single=True)}),
}
"""By the name of the field of `IdeaEvaluation`."""
