"""A ranking is seen to move match by match, within one large group as over many."""

from pathlib import Path

from flows.works.rank.ranking import VerdictProgress
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import Grouping, RankingHead, RatingMethod
from schemas.reasons import Reason
from tasks.ranking.rank_shard import Journal, journal_path
from tests.support.rankings import AT, DIMENSIONS, land_group, make_ranked_group
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.warehouse import Warehouse

HEAD = RankingHead(
    ranking_id="ranking-a",
    run_id=RunId("run-a"),
    engine="extractive",
    profile="economy",
    seed=7,
    grouping=Grouping.GIVEN,
    method=RatingMethod.BRADLEY_TERRY,
    dimensions=DIMENSIONS,
    group_count=2,
    idea_count=6,
    basis_sha256="none",
    started_at=AT,
    finished_at=AT,
)
LARGE = make_ranked_group([IdeaId(f"i{number}") for number in range(4)], group="large")
SMALL = make_ranked_group([IdeaId("x"), IdeaId("y")], group="small")


def test_matches_count_as_they_are_played_and_what_is_not_needed_leaves_the_total(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    played = VerdictProgress(warehouse, HEAD, {"large": 30, "small": 4})
    assert (played.done(), played.total(), played.groups()) == (0, 34, ", 0 of 2 groups ranked")
    journal = Journal(
        journal_path(RANKINGS.folder(warehouse, HEAD.run_id, HEAD.ranking_id), "large")
    )
    journal.write(LARGE.matches[:5])
    assert played.done() == 5
    with journal.path.open("ab") as file:
        file.write(b'{"match": torn')
    assert played.done() == 5, "a line that is being written is none yet"
    journal.write(LARGE.matches[5:6])
    land_group(warehouse, SMALL)
    assert (played.done(), played.total(), played.groups()) == (11, 34, ", 1 of 2 groups ranked")
    land_group(warehouse, LARGE)
    assert (played.done(), played.total()) == (28, 28)


def test_a_group_that_ended_early_goes_on_from_its_journal(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    land_group(warehouse, replace(LARGE, incomplete_reason=Reason.BUDGET_EXHAUSTED))
    Journal(journal_path(RANKINGS.folder(warehouse, HEAD.run_id, HEAD.ranking_id), "large")).write(
        LARGE.matches[:3]
    )
    played = VerdictProgress(warehouse, HEAD, {"large": 30})
    assert (played.done(), played.total()) == (3, 30)
