"""The table of the novelty module (RINoBench §3)."""

from schemas.columns import Column, Table
from schemas.shared_columns import (
    CITATION_COUNTS,
    FLOAT,
    IDEA_ID,
    IN_IDEA,
    INTEGER,
    RUN_ID,
    STRING,
    STRINGS,
    TEXT,
    UNSCORED,
    UNSCORED_DETAIL,
    provenance,
)

NOVELTY = Table(
    "novelty",
    "How new an idea is beside its related works.",
    (
        RUN_ID,
        IDEA_ID,
        Column("score_1_to_5", INTEGER, "1 known, 5 new in every respect; NULL when unscored.", nullable=True, minimum=1, maximum=5),
        Column("calibrated_score_1_to_5", FLOAT, "NULL without a calibrator.", nullable=True, minimum=1, maximum=5),
        Column("calibrator_sha256", STRING, "The calibrator applied; NULL: none.", nullable=True),
        Column("justification", TEXT, "The reasons, Markdown with citations."),
        Column("known_aspects", STRINGS, "What related works have already."),
        Column("novel_aspects", STRINGS, "What they have not."),
        Column("related_paper_ids", STRINGS, "Related works shown, in order."),
        UNSCORED,
        UNSCORED_DETAIL,
        *CITATION_COUNTS,
        *provenance(),
    ),
    IN_IDEA,
)
