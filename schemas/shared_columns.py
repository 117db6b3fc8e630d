"""Columns that several tables share: identifiers, provenance, reasons, counts."""

from schemas.columns import Column, ColumnType, Severity
from schemas.reasons import About, reasons_about

STRING, TEXT, INTEGER, FLOAT = ColumnType.STRING, ColumnType.TEXT, ColumnType.INTEGER, ColumnType.FLOAT
BOOLEAN, DATE, TIMESTAMP, STRINGS = ColumnType.BOOLEAN, ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.STRINGS

RUN_ID = Column("run_id", STRING, "The run the row belongs to.")
IDEA_ID = Column("idea_id", STRING, "The idea the row belongs to.", references="ideas.idea_id")
POSITION = Column("position", INTEGER, "Order of the row within its idea, from 0.", minimum=0)
OF_IDEA = (RUN_ID, IDEA_ID, POSITION)
IN_IDEA = ("run_id", "idea_id")


def provenance(nullable: bool = False) -> tuple[Column, ...]:
    """What made the row's judgement (design §3); all NULL, where nullable, when nothing judged the row."""
    return (
        Column("step", STRING, "Step that judged.", nullable=nullable),
        Column("step_version", INTEGER, "Version of the step.", nullable=nullable, minimum=1),
        Column("prompt_sha256", STRING, "Hash of the step's prompt template.", nullable=nullable),
        Column("engine", STRING, "Engine that answered: extractive or litellm:<model>.", nullable=nullable),
        Column("model_requested", STRING, "Model asked for.", nullable=nullable),
        Column("model_answered", STRING, "Model as the provider names it; NULL when nothing was answered.", nullable=True),
        Column("seed", INTEGER, "Seed sent to the model; NULL when none was.", nullable=True),
        Column("created_at", TIMESTAMP, "When the judgement was made.", nullable=nullable),
        Column("shortening", STRING, "What was left out of a long input, by which rule; NULL: nothing.", nullable=True),
        Column("call_ids", STRINGS, "Rows of llm_calls paid for the judgement.", nullable=nullable),
    )


def paper_id(severity: Severity = Severity.CRITICAL) -> Column:
    return Column("paper_id", STRING, "A paper retrieved for the idea.", references="papers.paper_id", reference_severity=severity)


UNSCORED = Column("unscored_reason", STRING, "Why there is no score; NULL when scored.", nullable=True, allowed=reasons_about(About.SCORE))
UNSCORED_DETAIL = Column("unscored_detail", STRING, "One line about the reason; empty when scored.")
CITATION_COUNTS = (
    Column("removed_citation_count", INTEGER, "Citations of keys that were never shown, taken out.", minimum=0),
    Column("uncited_sentence_count", INTEGER, "Sentences without a citation.", minimum=0),
)
