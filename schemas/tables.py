"""Tables of the warehouse, derived from nouns; `TABLES` is the only list of them.

A table added here is created, landed, validated, published and documented.
"""

from dataclasses import replace
from functools import partial

from schemas.calls import ApiCall, LlmCall
from schemas.columns import Column, ColumnType, Table, columns_of
from schemas.failure import Failure
from schemas.idea import Idea, RejectedIdea
from schemas.judgement.assessment import Assessment
from schemas.judgement.benchmark import (
    BenchmarkHead,
    BenchmarkItem,
    BenchmarkRun,
    BenchmarkScore,
)
from schemas.judgement.committee import (
    Claim,
    GroundedEvidence,
    KnowledgeRecord,
    MetaReview,
    PersonaReview,
)
from schemas.judgement.contribution import Candidate, Comparison, ContributionReview, Dimension
from schemas.judgement.evaluation import IdeaEvaluation, Receipt
from schemas.judgement.novelty import ClaimedContribution, NoveltyJudgement
from schemas.judgement.officer import OfficerAnswer
from schemas.judgement.ranking import GroupSummary, Match, RankingHead, Rating
from schemas.judgement.soundness import (
    Concern,
    Method,
    MethodEvidence,
    MethodPassage,
    PlanElement,
    PlanReview,
    SoundnessReview,
    SoundnessSummary,
)
from schemas.judgement.suggestion import Suggestion
from schemas.judging import JudgeVote
from schemas.literature.citation import Citation
from schemas.literature.coverage import FieldCoverage
from schemas.literature.paper import CitationEdge, Paper, PaperSection
from schemas.literature.recommendation import Resource
from schemas.outcome import Provenance
from schemas.people.decisions import Decision, Request
from schemas.people.ledger import LedgerEntry, LedgerRow
from schemas.people.votes import HumanVote
from schemas.profile import ScoreWeights
from schemas.run import Module, Run, ValidationRow
from schemas.work_schema import POSITION, RUN_ID, table_of, table_of_head
from schemas.works.curation_edit import CurationEdit
from schemas.works.experimental_result import ExperimentalResult
from schemas.works.registry import work_schemas

STRING, BOOLEAN = ColumnType.STRING, ColumnType.BOOLEAN
BENCHMARK_ID = replace(RUN_ID, meaning="The benchmark the row belongs to; a row of `benchmarks`.")
IDEA_ID = Column("idea_id", STRING, "The idea the row belongs to.", references="ideas.idea_id")
RANKING_ID = columns_of(RankingHead, "ranking_id")
FOR_RANKING = columns_of(ValidationRow, "ranking_id")
RECORDERS = (
    "read_ideas",
    *Module,
    "run",
    "benchmark",
    *(work.word for work in work_schemas()),
)


_of_idea = partial(table_of, (RUN_ID, IDEA_ID, POSITION), ("run_id", "idea_id"))
_once_per_idea = partial(table_of, (RUN_ID, IDEA_ID), ("run_id", "idea_id"))
_of_ranking = partial(
    table_of,
    (RUN_ID, *RANKING_ID),
    ("run_id", "ranking_id"),
    per_idea=False,
)
_of_benchmark = partial(
    table_of,
    (BENCHMARK_ID, *columns_of(BenchmarkRun, "suite"), POSITION),
    ("run_id", "suite"),
    per_idea=False,
)
_of_services = partial(table_of, (), (), per_idea=False)


RUNS = table_of_head(
    RUN_ID,
    "runs",
    Run,
    last=tuple(
        Column(
            f"{name}_weight",
            ColumnType.FLOAT,
            f"Weight of {name} in idea_scores.score.",
            minimum=0,
        )
        for name in ScoreWeights.model_fields
    ),
)
FIELD_COVERAGE = tuple(
    replace(column, nullable=True, meaning=f"{column.meaning[:-1]}; NULL: not measured.")
    for column in columns_of(FieldCoverage)
)
IDEAS = table_of(
    (RUN_ID,),
    ("run_id",),
    "ideas",
    Idea,
    "idea_id",
    more=(*columns_of(Idea, "idea_id"), *columns_of(IdeaEvaluation, "evaluation_key")),
    after=(
        *columns_of(IdeaEvaluation, "profile", "engine", "literature"),
        *(
            Column(f"{name}_requested", BOOLEAN, f"Whether the {name} module was requested.")
            for name in Module
        ),
        *columns_of(IdeaEvaluation, "incomplete_reason", "reused_from_run_id"),
        *columns_of(Receipt, "state", "state_reason"),
        *columns_of(IdeaEvaluation, "started_at", "finished_at"),
        *FIELD_COVERAGE,
    ),
    meaning="One idea evaluated in one run.",
)
FAILURES = table_of(
    (
        RUN_ID,
        *columns_of(RejectedIdea, "idea_id"),
        POSITION,
        Column("recorded_by", STRING, "Stage or module of the record.", allowed=RECORDERS),
    ),
    ("run_id", "idea_id"),
    "failures",
    Failure,
    "recorded_by",
    "position",
    after=(Column("retryable", BOOLEAN, "Whether a rerun may help."),),
)
CANDIDATES = _of_idea(
    "candidates",
    Candidate,
    "paper_id",
    # The candidate has another `seed`.
    after=tuple(replace(column, name="model_seed") for column in columns_of(Provenance, "seed")),
)
RANKING_TABLES = (
    table_of_head(RUN_ID, "rankings", RankingHead, "ranking_id", more=RANKING_ID),
    _of_ranking("ranking_groups", GroupSummary, "group"),
    _of_ranking(
        "matches",
        Match,
        "match_id",
        more=(
            POSITION,
            *columns_of(Match, "match_id", "group", "first_idea_id", "second_idea_id"),
            *columns_of(Match, "dimension", "winner"),
            Column(
                "winner_idea_id",
                STRING,
                "The idea that won; NULL for a tie and when unscored.",
                nullable=True,
            ),
        ),
    ),
    _of_ranking("ratings", Rating, "idea_id", "dimension", "method"),
    _of_ranking(
        "ratings_across_groups",
        Rating,
        "idea_id",
        "dimension",
        "method",
        meaning=(
            "Strength of one idea on a common scale over all groups connected by matches; mean 0 and"
            " ranks over all of them."
        ),
    ),
)
MADE_BY = (
    *columns_of(BenchmarkHead, "engine", "model_answered"),
    *columns_of(BenchmarkHead, "profile", "seed", "data_sha256", "prompt_sha256"),
)
BENCHMARK_TABLES = (
    table_of_head(
        BENCHMARK_ID,
        "benchmarks",
        BenchmarkHead,
        more=(*columns_of(BenchmarkHead, "suite"), *MADE_BY),
    ),
    _of_benchmark(
        "benchmark_scores",
        BenchmarkScore,
        "metric",
        "slice",
        "system",
        "origin",
        more=MADE_BY,
        after=(
            Column(
                "origin",
                STRING,
                "Measured by Assay, or published in a paper.",
                allowed=("measured", "published"),
            ),
            *columns_of(BenchmarkScore, "published_source"),
            Column("created_at", ColumnType.TIMESTAMP, "When the score was made."),
        ),
    ),
    _of_benchmark("benchmark_items", BenchmarkItem, "task", "system", "item_id"),
)

SERVICE_TABLES = (
    _of_services("human_votes", HumanVote, "vote_id"),
    _of_services("requests", Request, "request_id"),
    _of_services("decisions", Decision, "decision_id"),
    _of_services("curation_edits", CurationEdit, "edit_id"),
)
"""Tables of actions of people and programs, with a one-column key, recorded immediately."""

LEDGER = table_of(
    columns_of(LedgerRow, "sequence"),
    ("sequence",),
    "ledger",
    LedgerRow,
    meaning=(LedgerEntry.__doc__ or "").partition("\n")[0],
    per_idea=False,
)

TABLES: tuple[Table, ...] = (
    RUNS,
    IDEAS,
    _of_idea("methods", Method, "method_id"),
    _of_idea("plan_elements", PlanElement, "element_id"),
    _of_idea("concerns", Concern, "concern_id"),
    _once_per_idea("plan_reviews", PlanReview),
    _of_idea("officer_answers", OfficerAnswer, "question"),
    _of_idea(
        "passages",
        MethodPassage,
        "method_id",
        "passage_id",
        more=columns_of(MethodPassage, "method_id"),
        meaning="One passage found by a snippet search for one method.",
    ),
    _of_idea("papers", Paper, "paper_id", meaning="One paper retrieved for one idea."),
    _of_idea("citation_edges", CitationEdge, "citing_paper_id", "cited_paper_id"),
    _of_idea("resources", Resource, "position"),
    _of_idea("experimental_results", ExperimentalResult, "experiment_run_id", "task_id"),
    _of_idea("paper_sections", PaperSection, "position"),
    _of_idea("method_evidence", MethodEvidence, "method_id", "paper_id"),
    _of_idea("soundness_reviews", SoundnessReview, "method_id"),
    _once_per_idea("soundness_summaries", SoundnessSummary),
    _of_idea("dimensions", Dimension, "dimension_id"),
    CANDIDATES,
    _of_idea("comparisons", Comparison, "paper_id", "dimension_id"),
    _of_idea("contribution_reviews", ContributionReview, "dimension_id"),
    _of_idea("claims", Claim, "claim_id"),
    _of_idea("knowledge_items", KnowledgeRecord, "knowledge_id"),
    _of_idea("evidence", GroundedEvidence, "evidence_id"),
    _of_idea("persona_reviews", PersonaReview, "persona_id", "dimension"),
    _once_per_idea("meta_reviews", MetaReview),
    _once_per_idea("novelty", NoveltyJudgement),
    _of_idea("novelty_contributions", ClaimedContribution, "position"),
    _of_idea("assessments", Assessment, "criterion"),
    _of_idea(
        "citations",
        Citation,
        *("module", "subject", "field", "paper_id", "knowledge_id"),
    ),
    _of_idea("suggestions", Suggestion, "module", "subject", "rank"),
    _of_idea(
        "llm_calls",
        LlmCall,
        "call_id",
        after=(*FOR_RANKING, *columns_of(LlmCall, "created_at")),
    ),
    _of_idea(
        "judge_votes",
        JudgeVote,
        *("step", "question", "item", "judge"),
    ),
    _of_idea("api_calls", ApiCall, "call_id"),
    FAILURES,
    table_of(
        (RUN_ID,),
        ("run_id",),
        "validations",
        ValidationRow,
        *("ranking_id", "expectation", "table_name", "column_name"),
        per_idea=False,
    ),
    *RANKING_TABLES,
    *(table for work in work_schemas() for table in (work.head_table, *work.tables)),
    *BENCHMARK_TABLES,
    *SERVICE_TABLES,
    LEDGER,
)
TABLE: dict[str, Table] = {table.name: table for table in TABLES}
IDEA_TABLES: tuple[Table, ...] = tuple(table for table in TABLES if table.per_idea)
