"""Tables of grouped ranking. A ranking lands apart from the evaluations of its run, and several may stand beside each other."""

from schemas.columns import Column, Table
from schemas.ranking import Grouping, RatingMethod, Winner
from schemas.shared_columns import (
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

RANKING_ID = Column("ranking_id", STRING, "The ranking the row belongs to: one engine, profile and seed over one state of a run.")
OF_RANKING = (RUN_ID, RANKING_ID)
IN_RANKING = ("run_id", "ranking_id")
GROUP = Column("group", STRING, "Group within which ideas met; `all` for those given none.")


def of_idea(name: str, meaning: str) -> Column:
    return Column(name, STRING, meaning, references="ideas.idea_id")


RANKINGS = Table(
    "rankings",
    "One grouped ranking of one run by one engine and profile.",
    (
        *OF_RANKING,
        Column("engine", STRING, "Engine that judged the matches."),
        Column("profile", STRING, "Profile followed."),
        Column("seed", INTEGER, "Seed of the schedule and of the judge.", minimum=0),
        Column("grouping", STRING, "Where groups come from.", allowed=tuple(Grouping)),
        Column("method", STRING, "Ratings that the ranks shown first rest on.", allowed=tuple(RatingMethod)),
        Column("dimensions", STRINGS, "Dimensions of the matches."),
        Column("group_count", INTEGER, "Groups ranked.", minimum=0),
        Column("idea_count", INTEGER, "Ideas ranked.", minimum=0),
        Column("vote_count", INTEGER, "Human votes taken in.", minimum=0),
        Column("incomplete_reason", STRING, "Why the ranking ended early; NULL when it ran to its end.", nullable=True),
        Column("basis_sha256", STRING, "Hash over the evaluations ranked; a run that changed loses its rankings of before."),
        Column("landing_sha256", STRING, "Hash over the receipts published; equal: nothing to publish anew."),
        Column("started_at", TIMESTAMP, "Start of the ranking."),
        Column("finished_at", TIMESTAMP, "End of the ranking."),
        Column("published_at", TIMESTAMP, "When it entered the lake."),
    ),
    IN_RANKING,
    per_idea=False,
    per_ranking=True,
)

RANKING_GROUPS = Table(
    "ranking_groups",
    "What the ranking of one group rests on.",
    (
        *OF_RANKING,
        GROUP,
        Column("idea_count", INTEGER, "Ideas of the group.", minimum=1),
        Column("match_count", INTEGER, "Matches along all dimensions, without votes of people.", minimum=0),
        Column("unscored_match_count", INTEGER, "Matches without a verdict.", minimum=0),
        Column("schedule", STRING, "round_robin or adaptive."),
        Column("ended_because", STRING, "Why no more pairs were asked."),
        Column("island_count", INTEGER, "Parts that no chain of scored matches joins; ranks compare within a part only.", minimum=1),
        Column(
            "position_bias",
            FLOAT,
            "Share of matches won by the idea shown first, minus by the second; NULL: not measured.",
            nullable=True,
            minimum=-1,
            maximum=1,
        ),
        Column(
            "order_agreement_0_to_1",
            FLOAT,
            "Share of pairs judged alike in both orders; NULL: none was asked in both.",
            nullable=True,
            minimum=0,
            maximum=1,
        ),
    ),
    (*IN_RANKING, "group"),
    per_idea=False,
    per_ranking=True,
)

MATCHES = Table(
    "matches",
    "One idea shown against another, in one order, judged along one dimension.",
    (
        *OF_RANKING,
        POSITION,
        Column("match_id", STRING, "Unique within the ranking."),
        GROUP,
        of_idea("first_idea_id", "The idea shown first."),
        of_idea("second_idea_id", "The idea shown second."),
        Column("dimension", STRING, "A review dimension, or `overall`."),
        Column("winner", STRING, "Who won; NULL when unscored.", nullable=True, allowed=tuple(Winner)),
        Column("winner_idea_id", STRING, "The idea that won; NULL for a tie and when unscored.", nullable=True),
        Column("rationale", TEXT, "Why, Markdown with rendered citations; empty when unscored."),
        Column("round", INTEGER, "Round of the schedule.", minimum=1),
        Column("judge", STRING, "The engine, or `human:<name>` for a vote."),
        UNSCORED,
        UNSCORED_DETAIL,
        *(column for column in provenance(nullable=True) if column.name != "created_at"),
        Column("created_at", TIMESTAMP, "When it was judged."),
    ),
    (*IN_RANKING, "match_id"),
    per_idea=False,
    per_ranking=True,
)

RATINGS = Table(
    "ratings",
    "Strength of one idea within its group, by one method along one dimension.",
    (
        *OF_RANKING,
        GROUP,
        of_idea("idea_id", "The idea rated."),
        Column("dimension", STRING, "A review dimension, or `overall`."),
        Column("method", STRING, "How strengths were found.", allowed=tuple(RatingMethod)),
        Column("strength", FLOAT, "Log-strength (mean 0 in the group) or Elo points; NULL without a scored match.", nullable=True),
        Column("lower", FLOAT, "Lower end of the 95 % interval.", nullable=True),
        Column("upper", FLOAT, "Upper end of the 95 % interval.", nullable=True),
        Column("rank", INTEGER, "1 is best, ties share; NULL without a strength.", nullable=True, minimum=1),
        Column("best_rank", INTEGER, "Best rank the intervals allow.", nullable=True, minimum=1),
        Column("worst_rank", INTEGER, "Worst rank the intervals allow.", nullable=True, minimum=1),
        Column("wins", FLOAT, "Matches won; a tie counts half.", unit="matches", minimum=0),
        Column("losses", FLOAT, "Matches lost; a tie counts half.", unit="matches", minimum=0),
        Column("ties", INTEGER, "Matches tied.", unit="matches", minimum=0),
        Column("unscored_count", INTEGER, "Matches without a verdict.", unit="matches", minimum=0),
        Column("unranked_reason", STRING, "Why there is no strength; NULL when there is one.", nullable=True),
    ),
    (*IN_RANKING, "idea_id", "dimension", "method"),
    per_idea=False,
    per_ranking=True,
)

RANKING_TABLES: tuple[Table, ...] = (RANKINGS, RANKING_GROUPS, MATCHES, RATINGS)
