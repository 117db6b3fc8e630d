"""Tables of the manuscript checker. A check run lands apart from runs over ideas; its `run_id` is a row of `check_runs`."""

from schemas.columns import Column, Table
from schemas.manuscripts import ManuscriptForm
from schemas.shared_columns import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    POSITION,
    RUN_ID,
    STRING,
    STRINGS,
    TEXT,
    TIMESTAMP,
    UNSCORED,
    UNSCORED_DETAIL,
    provenance,
)

MANUSCRIPT_ID = Column("manuscript_id", STRING, "The manuscript the row belongs to.")
OF_MANUSCRIPT = (RUN_ID, MANUSCRIPT_ID, POSITION)
IN_MANUSCRIPT = ("run_id", "manuscript_id")


def _check_table(name: str, meaning: str, columns: tuple[Column, ...], key: tuple[str, ...]) -> Table:
    return Table(name, meaning, columns, key, per_idea=False, per_check=True)


CHECK_RUNS = _check_table(
    "check_runs",
    "One published check of manuscripts by one engine.",
    (
        RUN_ID,
        Column("engine", STRING, "Engine that looked for problems; of an imported release, the model it names."),
        Column("judges", STRINGS, "Engines that judged hits, in order; empty: none did."),
        Column("form", STRING, "Form asked for: auto, pdf, text or latex; of a release, its approach."),
        Column("dataset", STRING, "The release it was imported from; empty: checked by Assay."),
        Column("maximum_problems", INTEGER, "Most problems an attempt might report (k).", minimum=1),
        Column("attempt_count", INTEGER, "Attempts at each manuscript (n).", minimum=1),
        Column("repetition_count", INTEGER, "Answers of each judge about each problem (m).", minimum=1),
        Column("seed", INTEGER, "Seed of the first attempt.", minimum=0),
        Column("manuscript_count", INTEGER, "Manuscripts.", minimum=0),
        Column("incomplete_reason", STRING, "Why the check ended early; NULL when it ran to its end.", nullable=True),
        Column("landing_sha256", STRING, "Hash over the receipts published; equal: nothing to publish anew."),
        Column("started_at", TIMESTAMP, "Start of the check, or of the import."),
        Column("finished_at", TIMESTAMP, "End of it."),
        Column("published_at", TIMESTAMP, "When it entered the lake."),
    ),
    ("run_id",),
)

MANUSCRIPTS = _check_table(
    "manuscripts",
    "One manuscript that was to be checked.",
    (
        *OF_MANUSCRIPT,
        Column("title", TEXT, "Title as far as it is known; empty: it is not."),
        Column("form", STRING, "How it reached the engine.", allowed=tuple(ManuscriptForm)),
        Column("content_sha256", STRING, "Hash of its content; NULL: not known to the release.", nullable=True),
        Column("word_count", INTEGER, "Words of its text; NULL: not read.", unit="words", nullable=True, minimum=0),
        Column("page_count", INTEGER, "Pages; NULL: has none, or they are not known.", unit="pages", nullable=True, minimum=0),
        Column("known_reason", TEXT, "The authors' own reason for retracting it; NULL: none is known.", nullable=True),
        Column("unread_reason", STRING, "Why it could not be read; NULL when it could.", nullable=True),
    ),
    IN_MANUSCRIPT,
)

ATTEMPTS = _check_table(
    "attempts",
    "One reading of one manuscript by the checker.",
    (
        *OF_MANUSCRIPT,
        Column("attempt", INTEGER, "1 is the first.", minimum=1),
        Column("problem_count", INTEGER, "Problems reported; 0: it found none; NULL when unscored.", nullable=True, minimum=0),
        Column("input_tokens", INTEGER, "Tokens sent; NULL: not known, or no model was asked.", unit="tokens", nullable=True, minimum=0),
        Column("thinking_tokens", INTEGER, "Tokens of thinking; NULL: not told.", unit="tokens", nullable=True, minimum=0),
        Column(
            "output_tokens",
            INTEGER,
            "Tokens of the answer without thinking, which a release may give as negative; NULL: not known.",
            unit="tokens",
            nullable=True,
        ),
        Column("cost_usd", FLOAT, "NULL when no price is known.", unit="USD", nullable=True, minimum=0),
        UNSCORED,
        UNSCORED_DETAIL,
        *provenance(nullable=True),
    ),
    (*IN_MANUSCRIPT, "attempt"),
)

PROBLEMS = _check_table(
    "problems",
    "One critical problem reported in one attempt.",
    (
        *OF_MANUSCRIPT,
        Column("problem_id", STRING, "a1p1, a1p2, …: attempt, and order within it."),
        Column("attempt", INTEGER, "The attempt that reported it.", minimum=1),
        Column("rank", INTEGER, "Order within the attempt, 1 is the most critical.", minimum=1),
        Column("problem", TEXT, "What is wrong."),
        Column("location", TEXT, "Where it stands."),
        Column("explanation", TEXT, "Why it is a problem."),
        Column("location_found", BOOLEAN, "Whether the place named exists in the manuscript; NULL: cannot be told.", nullable=True),
        *provenance(nullable=True),
    ),
    (*IN_MANUSCRIPT, "problem_id"),
)

VOTES = _check_table(
    "votes",
    "One answer of one judge whether a problem is the one the authors gave as their reason.",
    (
        *OF_MANUSCRIPT,
        Column("problem_id", STRING, "The problem judged.", references="problems.problem_id"),
        Column("judge", STRING, "Engine of the judge; of a release, the model it names."),
        Column("repetition", INTEGER, "1 is the first answer.", minimum=1),
        Column("hit", BOOLEAN, "Whether it is the same problem; NULL when unscored.", nullable=True),
        Column("explanation", TEXT, "Why; empty where none was given."),
        UNSCORED,
        UNSCORED_DETAIL,
        *provenance(nullable=True),
    ),
    (*IN_MANUSCRIPT, "problem_id", "judge", "repetition"),
)

MANUSCRIPT_TABLES: tuple[Table, ...] = (CHECK_RUNS, MANUSCRIPTS, ATTEMPTS, PROBLEMS, VOTES)
