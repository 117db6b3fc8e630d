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


def _measured(name: str, meaning: str) -> Column:
    return Column(name, FLOAT, f"{meaning}; NULL: nothing was measured.", nullable=True, minimum=0, maximum=1)


NOVELTY = Table(
    "novelty",
    "How new an idea is beside its related works.",
    (
        RUN_ID,
        IDEA_ID,
        Column("score_1_to_5", INTEGER, "1 known, 5 new in every respect; NULL when unscored.", nullable=True, minimum=1, maximum=5),
        Column("calibrated_score_1_to_5", FLOAT, "NULL without a calibrator.", nullable=True, minimum=1, maximum=5),
        Column("calibrated_lower_1_to_5", FLOAT, "90 % lie from here …; NULL without a calibrator.", nullable=True, minimum=1, maximum=5),
        Column("calibrated_upper_1_to_5", FLOAT, "… to here; NULL without a calibrator.", nullable=True, minimum=1, maximum=5),
        Column("calibrator_sha256", STRING, "The calibrator applied; NULL: none.", nullable=True),
        Column("justification", TEXT, "The reasons, Markdown with citations."),
        Column("known_aspects", STRINGS, "What related works have already."),
        Column("novel_aspects", STRINGS, "What they have not."),
        Column("related_paper_ids", STRINGS, "Related works shown, in order."),
        Column("statement_count", INTEGER, "Key statements of the idea; NULL: nothing was measured.", nullable=True, minimum=0),
        _measured("covered_share_0_to_1", "Of the statements, those close to a related work"),
        _measured("mean_closeness_0_to_1", "Of the statements to their closest related work"),
        _measured("greatest_closeness_0_to_1", "Of any statement to any related work"),
        Column("unanswered_search_count", INTEGER, "Searches without an answer; NULL: not counted.", nullable=True, minimum=0),
        UNSCORED,
        UNSCORED_DETAIL,
        *CITATION_COUNTS,
        *provenance(),
    ),
    IN_IDEA,
)
