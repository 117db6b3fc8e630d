"""The tables of the warehouse: a noun each, what stands beside it, and `TABLES`, the one list.

A table added here is created, landed, checked, published and documented; nothing else lists tables
or columns. What a column means, and what it may hold, is said by the noun's field.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any

from schemas.base import Noun
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
from schemas.literature.survey import (
    Survey,
    SurveyCluster,
    SurveyLayer,
    SurveyPaper,
    SurveyQuery,
    SurveyQuote,
)
from schemas.literature.survey_review import RemovedSentence, SurveyJoin, SurveySection
from schemas.literature.survey_run import SurveyHead
from schemas.outcome import Provenance
from schemas.people.decisions import Decision, Request
from schemas.people.ledger import LedgerEntry, LedgerRow
from schemas.people.votes import HumanVote
from schemas.profile import ScoreWeights
from schemas.run import Module, Run, ValidationRow, WorkHead
from schemas.works.check_run import CheckHead
from schemas.works.curation import (
    CuratedDrop,
    CuratedReview,
    CuratedSentence,
    CuratedStatement,
    Curation,
)
from schemas.works.curation_edit import CurationEdit
from schemas.works.curation_run import CurationHead
from schemas.works.draft import Draft, DraftClaim, DraftFigure, DraftSection, DraftWork
from schemas.works.draft_neighbour import NeighbourSection
from schemas.works.draft_run import DraftHead
from schemas.works.experiment import Execution, Experiment, Program
from schemas.works.experiment_run import ExperimentHead
from schemas.works.experimental_result import ExperimentalResult
from schemas.works.ideation import FindingAnswer, IdeationRound, IdeaVersion, KeywordRelation
from schemas.works.ideation_run import IdeationHead
from schemas.works.manuscripts import (
    Attempt,
    ManuscriptCheck,
    ManuscriptReview,
    PooledWork,
    Problem,
    Vote,
)

STRING, BOOLEAN = ColumnType.STRING, ColumnType.BOOLEAN
RUN_ID = Column("run_id", STRING, "The run the row belongs to.")
BENCHMARK_ID = replace(RUN_ID, meaning="The benchmark the row belongs to; a row of `benchmarks`.")
IDEA_ID = Column("idea_id", STRING, "The idea the row belongs to.", references="ideas.idea_id")
POSITION = Column("position", ColumnType.INTEGER, "Order of the row, from 0.", minimum=0)
RANKING_ID = columns_of(RankingHead, "ranking_id")
LANDING_SHA256 = Column(
    "landing_sha256",
    STRING,
    "Hash over what was published; equal: nothing to publish anew.",
)
PUBLISHED_AT = Column("published_at", ColumnType.TIMESTAMP, "When it entered the lake.")
FOR_RANKING = columns_of(ValidationRow, "ranking_id")
RECORDERS = (
    "read_ideas",
    *Module,
    "run",
    "check",
    "survey",
    "curation",
    "experiment",
    "ideation",
    "draft",
    "benchmark",
)


def _table(
    before: tuple[Column, ...],
    key: tuple[str, ...],
    name: str,
    noun: type[Noun],
    *own_key: str,
    more: tuple[Column, ...] = (),
    after: tuple[Column, ...] = (),
    without: Collection[str] = (),
    meaning: str = "",
    **kind: Any,
) -> Table:
    """The table of a noun: `before`, `more`, its fields that none of the others names, `after`.

    `meaning` is what a row stands for, where the noun alone does not say it.
    """
    around = (*before, *more, *after)
    elsewhere = {column.name for column in around} | set(without)
    columns = (*before, *more, *columns_of(noun, without=elsewhere), *after)
    meaning = meaning or (noun.__doc__ or "").partition("\n")[0]
    return Table(name, meaning, noun, columns, (*key, *own_key), **kind)


def _head(
    run_id: Column,
    name: str,
    noun: type[WorkHead],
    *own_key: str,
    last: tuple[Column, ...] = (),
    **more: Any,
) -> Table:
    """The table of what is published whole: its times stand behind the hash over it."""
    times = columns_of(noun, "started_at", "finished_at")
    after = (*last, LANDING_SHA256, *times, PUBLISHED_AT)
    key = ("run_id",)
    return _table((run_id,), key, name, noun, *own_key, after=after, per_idea=False, **more)


def _of_unit(noun: type[Noun], name: str) -> Callable[..., Table]:
    """The tables of a kind whose units are `noun`, known by their field `name`."""
    known = (RUN_ID, *columns_of(noun, name), POSITION)
    return partial(_table, known, ("run_id", name), per_idea=False)


_of_idea = partial(_table, (RUN_ID, IDEA_ID, POSITION), ("run_id", "idea_id"))
_once_per_idea = partial(_table, (RUN_ID, IDEA_ID), ("run_id", "idea_id"))
_of_ranking = partial(
    _table,
    (RUN_ID, *RANKING_ID),
    ("run_id", "ranking_id"),
    per_idea=False,
)
_of_manuscript = _of_unit(ManuscriptCheck, "manuscript_id")
_of_question = _of_unit(Survey, "question_id")
_of_curated_paper = _of_unit(Curation, "paper_id")
_of_task = _of_unit(Experiment, "task_id")
_of_round = _of_unit(IdeationRound, "round_id")
_of_draft = _of_unit(Draft, "draft_id")
_of_benchmark = partial(
    _table,
    (BENCHMARK_ID, *columns_of(BenchmarkRun, "suite"), POSITION),
    ("run_id", "suite"),
    per_idea=False,
)
_of_services = partial(_table, (), (), per_idea=False)


def _of_modules(name: str, kind: ColumnType, meaning: str) -> tuple[Column, ...]:
    """A column for each module."""
    return tuple(
        Column(f"{module}_{name}", kind, meaning.format(module=module)) for module in Module
    )


RUNS = _head(
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
    replace(column, nullable=True, meaning=f"{column.meaning[:-1]}; NULL: it was not looked at.")
    for column in columns_of(FieldCoverage)
)
IDEAS = _table(
    (RUN_ID,),
    ("run_id",),
    "ideas",
    Idea,
    "idea_id",
    more=(*columns_of(Idea, "idea_id"), *columns_of(IdeaEvaluation, "evaluation_key")),
    after=(
        *columns_of(IdeaEvaluation, "profile", "engine", "literature"),
        *_of_modules("requested", BOOLEAN, "Whether the {module} module was asked for."),
        *columns_of(IdeaEvaluation, "incomplete_reason", "reused_from_run_id"),
        *columns_of(Receipt, "state", "state_reason"),
        *columns_of(IdeaEvaluation, "started_at", "finished_at"),
        *FIELD_COVERAGE,
    ),
    meaning="One idea evaluated in one run.",
)
FAILURES = _table(
    (
        RUN_ID,
        *columns_of(RejectedIdea, "idea_id"),
        POSITION,
        Column("recorded_by", STRING, "Who noticed.", allowed=RECORDERS),
    ),
    ("run_id", "idea_id"),
    "failures",
    Failure,
    "recorded_by",
    "position",
    after=(Column("retryable", BOOLEAN, "Whether running again may help."),),
)
CANDIDATES = _of_idea(
    "candidates",
    Candidate,
    "paper_id",
    # The candidate's own `seed` is another one.
    after=tuple(replace(column, name="model_seed") for column in columns_of(Provenance, "seed")),
)
RANKING_TABLES = (
    _head(RUN_ID, "rankings", RankingHead, "ranking_id", more=RANKING_ID),
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
            "Strength of one idea on one scale with those of all groups, where groups are"
            " joined by "
            "matches between them; mean 0 and ranks over all of them."
        ),
    ),
)
CHECK_TABLES = (
    _head(RUN_ID, "check_runs", CheckHead),
    _of_manuscript(
        "manuscripts",
        ManuscriptCheck,
        meaning="One manuscript that was to be checked.",
    ),
    _of_manuscript("attempts", Attempt, "attempt"),
    _of_manuscript(
        "problems",
        Problem,
        "problem_id",
        more=columns_of(Problem, "problem_id", "attempt", "rank"),
    ),
    _of_manuscript("manuscript_evidence", PooledWork, "paper_id"),
    _of_manuscript("manuscript_reviews", ManuscriptReview, "attempt"),
    _of_manuscript("votes", Vote, "problem_id", "judge", "repetition"),
)
SURVEY_TABLES = (
    _head(RUN_ID, "survey_runs", SurveyHead),
    _of_question("surveys", Survey, meaning="One question followed through the literature."),
    _of_question("survey_queries", SurveyQuery, "query_id"),
    _of_question("survey_layers", SurveyLayer, "layer"),
    _of_question(
        "survey_papers",
        SurveyPaper,
        "paper_id",
        more=(
            *columns_of(SurveyPaper, "paper_id"),
            *columns_of(Paper, "title", "authors", "venue", "year", "publication_date", "url"),
            *columns_of(Paper, "date_precision", "state"),
            *columns_of(Paper, "doi", "arxiv_id", "citation_count"),
            *columns_of(Paper, "abstract", "open_access_pdf_url"),
        ),
    ),
    _of_question("survey_clusters", SurveyCluster, "cluster_id"),
    _of_question("survey_quotes", SurveyQuote, "position"),
    _of_question("survey_sections", SurveySection, "section_id"),
    _of_question("survey_removed_sentences", RemovedSentence, "position"),
    _of_question("survey_joins", SurveyJoin, "position"),
)
CURATION_TABLES = (
    _head(RUN_ID, "curation_runs", CurationHead),
    _of_curated_paper(
        "curated_ideas",
        Curation,
        meaning="One paper with its reviews as a rated idea, or why it is none.",
    ),
    _of_curated_paper("curated_reviews", CuratedReview, "review_id"),
    _of_curated_paper("curated_sentences", CuratedSentence, "sentence_id"),
    _of_curated_paper("curated_statements", CuratedStatement, "statement_id"),
    _of_curated_paper("curated_drops", CuratedDrop, "position"),
)
EXPERIMENT_TABLES = (
    _head(RUN_ID, "experiment_runs", ExperimentHead),
    _of_task("experiments", Experiment),
    _of_task("programs", Program, "program_id"),
    _of_task("executions", Execution, "program_id", "stage", "replicate"),
)
IDEATION_TABLES = (
    _head(RUN_ID, "ideation_runs", IdeationHead),
    _of_round("idea_versions", IdeaVersion, "version_id"),
    _of_round("keyword_relations", KeywordRelation, "position"),
    _of_round("finding_answers", FindingAnswer, "position"),
)
DRAFT_TABLES = (
    _head(RUN_ID, "draft_runs", DraftHead),
    _of_draft("drafts", Draft),
    _of_draft("draft_sections", DraftSection, "section_id"),
    _of_draft("draft_claims", DraftClaim, "claim_key"),
    _of_draft("draft_figures", DraftFigure, "figure_id"),
    _of_draft("draft_works", DraftWork, "cite_key"),
    _of_draft("draft_neighbours", NeighbourSection, "paper_id", "section_number"),
)
MADE_BY = (
    *columns_of(BenchmarkHead, "engine", "model_answered"),
    *columns_of(BenchmarkHead, "profile", "seed", "data_sha256", "prompt_sha256"),
)
BENCHMARK_TABLES = (
    _head(
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
                "Whether Assay measured it or a paper printed it.",
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
"""What people and programs do, a row each, known by one column: recorded at once, folded later."""

LEDGER = _table(
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
    _of_idea(
        "passages",
        MethodPassage,
        "method_id",
        "passage_id",
        more=columns_of(MethodPassage, "method_id"),
        meaning="One passage a snippet search returned for one method.",
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
    _table(
        (RUN_ID,),
        ("run_id",),
        "validations",
        ValidationRow,
        *("ranking_id", "expectation", "table_name", "column_name"),
        per_idea=False,
    ),
    *RANKING_TABLES,
    *CHECK_TABLES,
    *SURVEY_TABLES,
    *CURATION_TABLES,
    *EXPERIMENT_TABLES,
    *IDEATION_TABLES,
    *DRAFT_TABLES,
    *BENCHMARK_TABLES,
    *SERVICE_TABLES,
    LEDGER,
)
TABLE: dict[str, Table] = {table.name: table for table in TABLES}
IDEA_TABLES: tuple[Table, ...] = tuple(table for table in TABLES if table.per_idea)
