"""Tables of the committee module (InnoEval, "Method")."""

from schemas.columns import Column, Table
from schemas.committee import Decision, IdeaPart, KnowledgePhase, Relation
from schemas.knowledge import SourceKind
from schemas.shared_columns import (
    BOOLEAN,
    CITATION_COUNTS,
    DATE,
    FLOAT,
    IDEA_ID,
    IN_IDEA,
    INTEGER,
    OF_IDEA,
    RUN_ID,
    STRING,
    TEXT,
    UNSCORED,
    UNSCORED_DETAIL,
    provenance,
)

PART = Column("part", STRING, "Part of the idea.", allowed=tuple(IdeaPart))
PHASE = Column(
    "phase", STRING, "before: judges the idea; after: appeared after its cutoff date, advises only.", allowed=tuple(KnowledgePhase)
)
KNOWLEDGE_ID = Column("knowledge_id", STRING, "The piece of knowledge.", references="knowledge_items.knowledge_id")

CLAIMS = Table(
    "claims",
    "One atomic claim of one of an idea's six parts.",
    (
        *OF_IDEA,
        Column("claim_id", STRING, "c1, c2, … unique within the idea."),
        PART,
        Column("statement", TEXT, "The claim."),
        *provenance(),
    ),
    (*IN_IDEA, "claim_id"),
)

KNOWLEDGE_ITEMS = Table(
    "knowledge_items",
    "A paper, web page or repository found for an idea, and how far it came.",
    (
        *OF_IDEA,
        Column("knowledge_id", STRING, "k1, k2, … unique within the idea."),
        Column("kind", STRING, "What it is.", allowed=tuple(SourceKind)),
        Column("source", STRING, "Source that found it; `literature` for the gateway."),
        PHASE,
        PART,
        Column("query", STRING, "The query that found it first."),
        Column("round", INTEGER, "Round of search that found it.", minimum=1),
        Column("title", STRING, "Title; empty where the source has none."),
        Column("url", STRING, "Where a reader finds it."),
        Column("published", DATE, "Last day on which it can have appeared; NULL when unknown.", nullable=True),
        Column("paper_id", STRING, "The paper in `papers`; NULL: not there.", nullable=True, references="papers.paper_id"),
        Column("text", TEXT, "What the source said of it."),
        Column("reading", TEXT, "What slow reading made of it; empty when not read."),
        Column("semantic_similarity_0_to_1", FLOAT, "Similarity to the idea; NULL when not computed.", nullable=True, minimum=0, maximum=1),
        Column("judge_score_0_to_1", FLOAT, "Standing; NULL when not judged or unscored.", nullable=True, minimum=0, maximum=1),
        Column("score_0_to_1", FLOAT, "(1 - α) · similarity + α · standing; NULL without both.", nullable=True, minimum=0, maximum=1),
        Column("selected", BOOLEAN, "Among the best of its kind: read and grounded."),
        UNSCORED,
        *provenance(nullable=True),
    ),
    (*IN_IDEA, "knowledge_id"),
)

EVIDENCE = Table(
    "evidence",
    "What one piece of knowledge says about one part of an idea.",
    (
        *OF_IDEA,
        Column("evidence_id", STRING, "e1, e2, … unique within the idea."),
        PART,
        KNOWLEDGE_ID,
        PHASE,
        Column("relation", STRING, "NULL: unscored.", nullable=True, allowed=tuple(Relation)),
        Column("evidence", TEXT, "What the knowledge says."),
        Column("analysis", TEXT, "How it bears on the part."),
        Column("relevance_0_to_1", FLOAT, "NULL when unscored.", nullable=True, minimum=0, maximum=1),
        Column("passage", TEXT, "The passage it rests on, as quoted."),
        Column("passage_verified", BOOLEAN, "Whether the passage stands in the knowledge word for word."),
        UNSCORED,
        UNSCORED_DETAIL,
        *provenance(),
    ),
    (*IN_IDEA, "evidence_id"),
)

PERSONA_REVIEWS = Table(
    "persona_reviews",
    "One reviewer's judgement of an idea along one dimension.",
    (
        *OF_IDEA,
        Column("persona_id", STRING, "The reviewer, as its file of personas calls it."),
        Column("dimension", STRING, "What was judged: clarity, novelty, feasibility, validity, significance, or the user's own."),
        Column("score_0_to_10", FLOAT, "NULL when unscored.", nullable=True, minimum=0, maximum=10),
        Column("review", TEXT, "The reasons, Markdown with citations."),
        Column("shown_evidence_count", INTEGER, "Pieces of evidence the reviewer saw.", minimum=0),
        Column("masked_evidence_count", INTEGER, "Pieces withheld because the reviewer does not know them.", minimum=0),
        Column("mask_seed", INTEGER, "Seed of what was withheld.", minimum=0),
        UNSCORED,
        UNSCORED_DETAIL,
        *CITATION_COUNTS,
        *provenance(),
    ),
    (*IN_IDEA, "persona_id", "dimension"),
)

META_REVIEWS = Table(
    "meta_reviews",
    "What the committee comes to about an idea.",
    (
        RUN_ID,
        IDEA_ID,
        Column("total_score_0_to_10", FLOAT, "Mean of the scored persona reviews; NULL without any.", nullable=True, minimum=0, maximum=10),
        Column("decision", STRING, "NULL when unscored.", nullable=True, allowed=tuple(Decision)),
        Column("summary", TEXT, "The synthesis, Markdown with citations."),
        Column("strengths", TEXT, "What speaks for the idea."),
        Column("weaknesses", TEXT, "What speaks against it."),
        Column("suggestions", TEXT, "From knowledge that appeared after the cutoff date; empty without any."),
        Column("dimension_means", STRING, "Mean by dimension over the personas that scored it, a JSON object."),
        Column("dimension_spreads", STRING, "Standard deviation by dimension over the personas that scored it, a JSON object."),
        Column("krippendorff_alpha", FLOAT, "Agreement of the personas, interval scale; NULL when undefined.", nullable=True, maximum=1),
        Column("scored_review_count", INTEGER, "Persona reviews with a score.", minimum=0),
        Column("unscored_review_count", INTEGER, "Persona reviews without one.", minimum=0),
        UNSCORED,
        UNSCORED_DETAIL,
        *CITATION_COUNTS,
        *provenance(),
    ),
    IN_IDEA,
)

COMMITTEE_TABLES = (CLAIMS, KNOWLEDGE_ITEMS, EVIDENCE, PERSONA_REVIEWS, META_REVIEWS)
