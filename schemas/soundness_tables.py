"""Tables of the soundness module."""

from schemas.columns import Column, Severity, Table
from schemas.paper import SectionKind
from schemas.shared_columns import (
    BOOLEAN,
    CITATION_COUNTS,
    FLOAT,
    IDEA_ID,
    IN_IDEA,
    INTEGER,
    OF_IDEA,
    RUN_ID,
    STRING,
    STRINGS,
    TEXT,
    UNSCORED,
    UNSCORED_DETAIL,
    paper_id,
    provenance,
)

WARNING = Severity.WARNING
METHOD_ID = Column("method_id", STRING, "The method judged.", references="methods.method_id")

METHODS = Table(
    "methods",
    "One thing an idea proposes to do (ScholarEval §2.1).",
    (
        *OF_IDEA,
        Column("method_id", STRING, "m1, m2, … unique within the idea."),
        Column("rank", INTEGER, "1 is the most important to the idea.", minimum=1),
        Column("text", TEXT, "The method, readable alone."),
        Column("quote", TEXT, "The idea's own words; empty when none were given that occur in it."),
        Column("query", STRING, "The snippet query; NULL when none could be made.", nullable=True),
        *provenance(),
    ),
    (*IN_IDEA, "method_id"),
)

PASSAGES = Table(
    "passages",
    "One passage a snippet search returned for one method.",
    (
        *OF_IDEA,
        METHOD_ID,
        Column("passage_id", STRING, "Identifier within the answer's source."),
        paper_id(WARNING),
        Column("text", TEXT, "The passage."),
        Column("kind", STRING, "title, abstract or body."),
        Column("section", STRING, "Heading it stands under.", nullable=True),
        Column("score", FLOAT, "The source's own score, comparable within one answer."),
        Column("cited_paper_ids", STRINGS, "Papers the passage refers to, as far as resolved."),
    ),
    (*IN_IDEA, "method_id", "passage_id"),
    key_severity=WARNING,
)

PAPER_SECTIONS = Table(
    "paper_sections",
    "One section read of one paper.",
    (
        *OF_IDEA,
        paper_id(WARNING),
        Column("section", STRING, "What the section is about.", allowed=tuple(SectionKind)),
        Column("heading", STRING, "As printed."),
        Column("text", TEXT, "The section."),
        Column("text_source", STRING, "metadata, grobid, pdf or latex."),
    ),
    (*IN_IDEA, "position"),
)

METHOD_EVIDENCE = Table(
    "method_evidence",
    "What one paper has to say about one method.",
    (
        *OF_IDEA,
        METHOD_ID,
        paper_id(),
        Column("relevant", BOOLEAN, "Whether it bears on the method; NULL when unscored.", nullable=True),
        Column("method", TEXT, "What the paper did."),
        Column("results", TEXT, "What came of it."),
        Column("context", TEXT, "Under which conditions."),
        UNSCORED,
        *provenance(),
    ),
    (*IN_IDEA, "method_id", "paper_id"),
)

SOUNDNESS_REVIEWS = Table(
    "soundness_reviews",
    "The literature's verdict on one method.",
    (
        *OF_IDEA,
        METHOD_ID,
        Column("support", TEXT, "What speaks for it, Markdown with citations."),
        Column("contradictions", TEXT, "What speaks against it."),
        Column("suggestions", TEXT, "What to change."),
        Column("score_0_to_10", FLOAT, "Soundness; NULL exactly when unscored.", nullable=True, minimum=0, maximum=10),
        UNSCORED,
        UNSCORED_DETAIL,
        Column("evidence_count", INTEGER, "Relevant papers shown to the engine.", minimum=0),
        *CITATION_COUNTS,
        *provenance(),
    ),
    (*IN_IDEA, "method_id"),
)

SOUNDNESS_SUMMARIES = Table(
    "soundness_summaries",
    "The three most important strengths, weaknesses and suggestions over all methods of one idea.",
    (
        RUN_ID,
        IDEA_ID,
        Column("strengths", STRINGS, "At most three, most important first."),
        Column("weaknesses", STRINGS, "At most three, most important first."),
        Column("suggestions", STRINGS, "At most three, most important first."),
        UNSCORED,
        *provenance(),
    ),
    IN_IDEA,
)
