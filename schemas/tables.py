"""The tables of the warehouse: one definition each, and `TABLES`, the one list of them.

A table added here is created, landed, checked, published and documented; nothing else lists tables or columns.
"""

from dataclasses import replace

from schemas.benchmark_tables import BENCHMARK_TABLES
from schemas.calls import CallStatus
from schemas.columns import Column, Severity, Table
from schemas.committee_tables import COMMITTEE_TABLES, KNOWLEDGE_ID
from schemas.contribution_tables import CANDIDATES, COMPARISONS, CONTRIBUTION_REVIEWS, DIMENSIONS
from schemas.manuscript_tables import MANUSCRIPT_TABLES
from schemas.novelty_tables import NOVELTY
from schemas.ranking_tables import RANKING_ID, RANKING_TABLES
from schemas.run import RunState
from schemas.shared_columns import (
    BOOLEAN,
    DATE,
    FLOAT,
    IN_IDEA,
    INTEGER,
    OF_IDEA,
    POSITION,
    RUN_ID,
    STRING,
    STRINGS,
    TEXT,
    TIMESTAMP,
    UNSCORED,
    UNSCORED_DETAIL,
    paper_id,
)
from schemas.soundness_tables import METHOD_EVIDENCE, METHODS, PAPER_SECTIONS, PASSAGES, SOUNDNESS_REVIEWS, SOUNDNESS_SUMMARIES

WARNING = Severity.WARNING
FOR_RANKING = replace(RANKING_ID, meaning="The ranking it was made for; NULL: an evaluation.", nullable=True)
RECORDERS = ("read_ideas", "soundness", "contribution", "committee", "novelty", "evaluation", "manuscripts")

RUNS = Table(
    "runs",
    "One published run.",
    (
        RUN_ID,
        Column("label", STRING, "The user's label; part of the evaluation key."),
        Column("profile", STRING, "Profile the run followed."),
        Column("engine", STRING, "Engine that judged."),
        Column("literature", STRING, "Where papers came from."),
        Column("modules", STRING, "Modules asked for, comma-separated."),
        Column("idea_count", INTEGER, "Ideas accepted.", minimum=0),
        Column("rejected_count", INTEGER, "Entries of the idea file that could not enter.", minimum=0),
        Column("evaluated_count", INTEGER, "Ideas with a complete evaluation.", minimum=0),
        Column("failed_count", INTEGER, "Ideas without a complete evaluation.", minimum=0),
        Column("state", STRING, "How the run ended.", allowed=tuple(RunState)),
        Column("started_at", TIMESTAMP, "Start of the run."),
        Column("finished_at", TIMESTAMP, "End of the run."),
        Column("duration_seconds", FLOAT, "Wall-clock time.", unit="seconds", minimum=0),
        Column("assay_version", STRING, "Version that ran."),
        Column("soundness_weight", FLOAT, "Weight of soundness in idea_scores.score.", minimum=0),
        Column("contribution_weight", FLOAT, "Weight of contribution in idea_scores.score.", minimum=0),
        Column("committee_weight", FLOAT, "Weight of the committee in idea_scores.score; NULL: 0.", nullable=True, minimum=0),
        Column("novelty_weight", FLOAT, "Weight of novelty in idea_scores.score; NULL: 0.", nullable=True, minimum=0),
        Column("landing_sha256", STRING, "Hash over the receipts published; equal: nothing to publish anew."),
        Column("published_at", TIMESTAMP, "When the run entered the lake."),
    ),
    ("run_id",),
    per_idea=False,
)

IDEAS = Table(
    "ideas",
    "One idea evaluated in one run.",
    (
        RUN_ID,
        Column("idea_id", STRING, "Given by the user, or a content hash."),
        Column("evaluation_key", STRING, "Hash over everything that could change the result."),
        Column("title", STRING, "Given, or the first heading or sentence."),
        Column("text", TEXT, "The whole idea, Markdown."),
        Column("problem", TEXT, "The problem, when given apart.", nullable=True),
        Column("method", TEXT, "The method, when given apart.", nullable=True),
        Column("experiment", TEXT, "The experiment, when given apart.", nullable=True),
        Column("cutoff_date", DATE, "Nothing published after this day may be cited; NULL: no cutoff.", nullable=True),
        Column("group", STRING, "Ideas of one group are ranked against each other; NULL: those without a group.", nullable=True),
        Column("metadata", STRING, "What else the user gave, a JSON object of strings."),
        Column("duplicate_of", STRING, "An earlier idea that says nearly the same.", nullable=True),
        Column("duplicate_similarity_0_to_1", FLOAT, "How nearly.", nullable=True, minimum=0, maximum=1),
        Column("profile", STRING, "Profile followed."),
        Column("engine", STRING, "Engine that judged."),
        Column("literature", STRING, "Where papers came from."),
        Column("soundness_requested", BOOLEAN, "Whether the soundness module ran."),
        Column("contribution_requested", BOOLEAN, "Whether the contribution module ran."),
        Column("committee_requested", BOOLEAN, "Whether the committee module ran; NULL: no.", nullable=True),
        Column("novelty_requested", BOOLEAN, "Whether the novelty module ran; NULL: no.", nullable=True),
        Column("incomplete_reason", STRING, "Why the evaluation ended early; NULL when it ran to its end.", nullable=True),
        Column("reused_from_run_id", STRING, "The run that paid for the evaluation; NULL: this one.", nullable=True),
        Column("started_at", TIMESTAMP, "Start of the evaluation."),
        Column("finished_at", TIMESTAMP, "End of the evaluation."),
    ),
    IN_IDEA,
)

PAPERS = Table(
    "papers",
    "One paper retrieved for one idea.",
    (
        *OF_IDEA,
        Column("paper_id", STRING, "Semantic Scholar's identifier, or the snapshot's own."),
        Column("corpus_id", INTEGER, "Semantic Scholar's number.", nullable=True),
        Column("title", STRING, "Title."),
        Column("abstract", TEXT, "Abstract; NULL where the source has none or withholds it.", nullable=True),
        Column("authors", STRINGS, "Names in printed order."),
        Column("venue", STRING, "Journal or conference; empty when unknown."),
        Column("year", INTEGER, "Year of publication.", unit="year", nullable=True),
        Column("publication_date", DATE, "Day of publication.", nullable=True),
        Column("url", STRING, "Page of the paper; empty when unknown."),
        Column("doi", STRING, "DOI.", nullable=True),
        Column("arxiv_id", STRING, "arXiv identifier.", nullable=True),
        Column("open_access_pdf_url", STRING, "Where a free PDF is said to be.", nullable=True),
        Column("citation_count", INTEGER, "Citations the source knows.", nullable=True, minimum=0),
        Column("reference_count", INTEGER, "References the source knows.", nullable=True, minimum=0),
    ),
    (*IN_IDEA, "paper_id"),
)

CITATIONS = Table(
    "citations",
    "One paper, page or repository cited in one text of an evaluation.",
    (
        *OF_IDEA,
        replace(paper_id(), meaning="The paper; NULL: a knowledge item without one is cited.", nullable=True),
        replace(KNOWLEDGE_ID, meaning="The knowledge item cited by the committee; NULL: another module cites.", nullable=True),
        Column("citation_key", STRING, "The short key the engine saw, such as P7."),
        Column("module", STRING, "soundness, contribution, committee or novelty."),
        Column("subject", STRING, "method_id, dimension_id or `persona_id dimension`; `summary` for a summary, `meta_review`."),
        Column("field", STRING, "support, contradictions, suggestions, strengths, weaknesses, review, summary or justification."),
        Column("count", INTEGER, "How often the text cites it.", minimum=1),
    ),
    (*IN_IDEA, "module", "subject", "field", "paper_id", "knowledge_id"),
    key_severity=WARNING,
)

LLM_CALLS = Table(
    "llm_calls",
    "One attempt at one model call.",
    (
        *OF_IDEA,
        Column("call_id", STRING, "Identifier of the attempt."),
        Column("step", STRING, "Step asked."),
        Column("step_version", INTEGER, "Version of the step.", minimum=1),
        Column("prompt_sha256", STRING, "Hash of the step's prompt template."),
        Column("engine", STRING, "Engine that called."),
        Column("model_requested", STRING, "Model asked for."),
        Column("model_answered", STRING, "As the provider names it; NULL when nothing was answered.", nullable=True),
        Column("prompt_tokens", INTEGER, "Tokens sent.", unit="tokens", minimum=0),
        Column("completion_tokens", INTEGER, "Tokens received.", unit="tokens", minimum=0),
        Column("cached_tokens", INTEGER, "Prompt tokens the provider served from its cache.", unit="tokens", minimum=0),
        Column("thinking_tokens", INTEGER, "Tokens received that were thinking; NULL: not told.", unit="tokens", nullable=True, minimum=0),
        Column("cost_usd", FLOAT, "NULL when no price is known; 0 from Assay's cache.", unit="USD", nullable=True, minimum=0),
        Column("latency_seconds", FLOAT, "Waiting for the provider.", unit="seconds", minimum=0),
        Column("queue_seconds", FLOAT, "Waiting for Assay's own limits.", unit="seconds", minimum=0),
        Column("attempt", INTEGER, "1 is the first.", minimum=1),
        Column("cache_hit", BOOLEAN, "Answered from Assay's cache."),
        Column("status", STRING, "How it ended.", allowed=tuple(CallStatus)),
        Column("error", STRING, "One line; NULL when it went well.", nullable=True),
        Column("shortening", STRING, "What was left out of a long input; NULL: nothing.", nullable=True),
        Column("seed", INTEGER, "Seed sent; NULL: none.", nullable=True),
        Column(
            "parameters_dropped",
            STRING,
            "What was asked for and the model does not take; NULL: nothing.",
            nullable=True,
        ),
        FOR_RANKING,
        Column("created_at", TIMESTAMP, "When it was made."),
    ),
    (*IN_IDEA, "call_id"),
    key_severity=WARNING,
)

JUDGE_VOTES = Table(
    "judge_votes",
    "One score that one of several judges gave, or why it gave none; the median of their scores counts.",
    (
        *OF_IDEA,
        Column("step", STRING, "Step that several models were asked."),
        Column("question", STRING, "Identifies the question that all judges were asked."),
        Column("item", STRING, "What the score is about, such as P3/d1; empty: the whole reply."),
        Column("judge", STRING, "LiteLLM's name of the model."),
        Column("model_answered", STRING, "As the provider names it; NULL when nothing was answered.", nullable=True),
        Column("score", FLOAT, "On the step's own scale; NULL when unscored.", nullable=True),
        UNSCORED,
        UNSCORED_DETAIL,
        Column("call_ids", STRINGS, "Rows of llm_calls paid for the answer."),
    ),
    (*IN_IDEA, "step", "question", "item", "judge"),
    key_severity=WARNING,
)

API_CALLS = Table(
    "api_calls",
    "One request to a literature or full-text source, repetitions included; or one answer that needed none.",
    (
        *OF_IDEA,
        Column("call_id", STRING, "Identifier of the request."),
        Column("source", STRING, "semantic_scholar, snapshot, unpaywall, grobid, download, …"),
        Column("endpoint", STRING, "What was asked of it."),
        Column("status", INTEGER, "HTTP status; NULL when no answer came.", nullable=True),
        Column("failure_reason", STRING, "NULL when answered.", nullable=True),
        Column("wait_seconds", FLOAT, "Waiting for the source's allowance.", unit="seconds", minimum=0),
        Column("latency_seconds", FLOAT, "Waiting for the answer.", unit="seconds", minimum=0),
        Column("cache_hit", BOOLEAN, "Answered from a cache."),
        Column("packed", INTEGER, "Look-ups that travelled in the request.", minimum=1),
        Column("upstream_requests", INTEGER, "1 for a request that left; 0 where a cache or another request answered.", minimum=0),
        Column("attempt", INTEGER, "Which try of its look-up this was.", minimum=1),
        Column("request_share", FLOAT, "Requests' worth: below 1 where look-ups of several ideas travelled together.", minimum=0),
        Column("created_at", TIMESTAMP, "When it was made."),
    ),
    (*IN_IDEA, "call_id"),
    key_severity=WARNING,
)

FAILURES = Table(
    "failures",
    "Something that did not work out.",
    (
        RUN_ID,
        Column("idea_id", STRING, "The idea; NULL for an entry that gave no identifier.", nullable=True),
        POSITION,
        Column("recorded_by", STRING, "Who noticed.", allowed=RECORDERS),
        Column("stage", STRING, "Where it failed."),
        Column("subject", STRING, "What failed, by identifier."),
        Column("reason", STRING, "A closed word."),
        Column("detail", STRING, "One line: what happened and how to mend it."),
        Column("retryable", BOOLEAN, "Whether running again may help."),
    ),
    (*IN_IDEA, "recorded_by", "position"),
    key_severity=WARNING,
)

VALIDATIONS = Table(
    "validations",
    "One expectation held against one run before publication.",
    (
        RUN_ID,
        Column("expectation", STRING, "Name of the expectation or of the SQL check."),
        Column("table_name", STRING, "Table checked; empty for a check over several."),
        Column("column_name", STRING, "Column checked; empty for the whole table."),
        Column("severity", STRING, "critical keeps a run out of the lake.", allowed=tuple(Severity)),
        Column("success", BOOLEAN, "Whether it held."),
        Column("evaluated_count", INTEGER, "Rows looked at.", minimum=0),
        Column("unexpected_count", INTEGER, "Rows that broke it.", minimum=0),
        Column("detail", STRING, "Examples of what broke it; empty when it held."),
        FOR_RANKING,
        Column("created_at", TIMESTAMP, "When it was checked."),
    ),
    ("run_id", "ranking_id", "expectation", "table_name", "column_name"),
    per_idea=False,
)

TABLES: tuple[Table, ...] = (
    RUNS, IDEAS, METHODS, PASSAGES, PAPERS, PAPER_SECTIONS, METHOD_EVIDENCE, SOUNDNESS_REVIEWS, SOUNDNESS_SUMMARIES,
    DIMENSIONS, CANDIDATES, COMPARISONS, CONTRIBUTION_REVIEWS, *COMMITTEE_TABLES, NOVELTY,
    CITATIONS, LLM_CALLS, JUDGE_VOTES, API_CALLS, FAILURES, VALIDATIONS, *RANKING_TABLES, *MANUSCRIPT_TABLES, *BENCHMARK_TABLES,
)  # fmt: skip
TABLE: dict[str, Table] = {table.name: table for table in TABLES}
IDEA_TABLES: tuple[Table, ...] = tuple(table for table in TABLES if table.per_idea)
EVALUATION_TABLES: tuple[Table, ...] = tuple(table for table in TABLES if not (table.per_ranking or table.per_check or table.per_benchmark))
