"""Tables of the contribution module."""

from schemas.columns import Column, Severity, Table
from schemas.contribution import CandidateOrigin
from schemas.shared_columns import (
    BOOLEAN,
    CITATION_COUNTS,
    FLOAT,
    IN_IDEA,
    INTEGER,
    OF_IDEA,
    STRING,
    STRINGS,
    TEXT,
    UNSCORED,
    UNSCORED_DETAIL,
    paper_id,
    provenance,
)

WARNING = Severity.WARNING
DIMENSION_ID = Column("dimension_id", STRING, "The dimension judged.", references="dimensions.dimension_id")
DIMENSION = Column("dimension", STRING, "Name of the dimension.")

DIMENSIONS = Table(
    "dimensions",
    "A facet along which an idea claims to advance its field (ScholarEval §2.2).",
    (
        *OF_IDEA,
        Column("dimension_id", STRING, "d1, d2, … unique within the idea."),
        Column("name", STRING, "Name of the dimension."),
        Column("statements", STRINGS, "The claims."),
        Column("queries", STRINGS, "Search queries made for the claims, in order."),
        *provenance(),
    ),
    (*IN_IDEA, "dimension_id"),
)

CANDIDATES = Table(
    "candidates",
    "A paper considered for comparison, and how far it came.",
    (
        *OF_IDEA,
        paper_id(WARNING),
        Column("origin", STRING, "How it was found.", allowed=tuple(CandidateOrigin)),
        Column("found_by", STRING, "The query, or the paper_id of the seed."),
        Column("similarity_0_to_1", FLOAT, "Embedding similarity; NULL when not computed.", nullable=True, minimum=0, maximum=1),
        Column("relevance_0_to_5", INTEGER, "NULL when not judged or unscored.", nullable=True, minimum=0, maximum=5),
        Column("rationale", TEXT, "Why that relevance."),
        UNSCORED,
        Column("seed", BOOLEAN, "Relevant enough to start augmentation from."),
        Column("compared", BOOLEAN, "Among the papers compared."),
        *(column for column in provenance(nullable=True) if column.name != "seed"),
        Column("model_seed", INTEGER, "Seed sent to the model; NULL when none was.", nullable=True),
    ),
    (*IN_IDEA, "paper_id"),
    key_severity=WARNING,
)

COMPARISONS = Table(
    "comparisons",
    "An idea against one paper along one dimension.",
    (
        *OF_IDEA,
        paper_id(),
        DIMENSION_ID,
        DIMENSION,
        Column("comparison", TEXT, "What differs."),
        Column("score", INTEGER, "+1 idea more novel, 0 neither, -1 paper; NULL: unscored.", nullable=True, minimum=-1, maximum=1),
        Column("overall_comparison", TEXT, "The same on every row of the paper."),
        UNSCORED,
        *provenance(),
    ),
    (*IN_IDEA, "paper_id", "dimension_id"),
)

CONTRIBUTION_REVIEWS = Table(
    "contribution_reviews",
    "What an idea adds along one dimension.",
    (
        *OF_IDEA,
        DIMENSION_ID,
        DIMENSION,
        Column("strengths", TEXT, "Where it goes beyond the papers, Markdown with citations."),
        Column("weaknesses", TEXT, "Where papers were first."),
        Column("suggestions", TEXT, "What would set it apart."),
        Column("mean_comparison_score", FLOAT, "Over scored comparisons; NULL without any.", nullable=True, minimum=-1, maximum=1),
        Column("scored_comparison_count", INTEGER, "Comparisons with a score.", minimum=0),
        Column("unscored_comparison_count", INTEGER, "Comparisons without.", minimum=0),
        UNSCORED,
        UNSCORED_DETAIL,
        *CITATION_COUNTS,
        *provenance(),
    ),
    (*IN_IDEA, "dimension_id"),
)
