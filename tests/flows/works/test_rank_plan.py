"""A group over which planning fails is that group's failure; the ranking is published without it
and names it.
"""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.profiles import load_profile
from flows.run.campaign import conclude
from flows.works.rank import rank_plan
from flows.works.rank.ranking import Ranking, RankSummary
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.ranking import GroupReceipt, RankingHead, RankRequest
from schemas.profile import Profile
from schemas.reasons import Reason
from tasks.calibration.text import WORDS
from tasks.ranking.rank_shard import RankJob, rank_shard
from tests.support.evaluations import make_evaluation, make_run
from tests.support.ranking_fakes import FakeJudge, write_prior
from tests.support.reports import ranking_report
from tests.support.requests import rank_request
from tests.support.votes import make_vote
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import record
from warehouse.kinds.rankings.queries import comparability, group_summaries, ideas_by_ranking
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Two groups of two ideas, published."""
    warehouse = Warehouse(tmp_path_factory.mktemp("evaluated") / "warehouse")
    for number in range(4):
        evaluation = make_evaluation(number)
        land(
            warehouse,
            replace(
                evaluation, idea=replace(evaluation.idea, group="one" if number < 2 else "two")
            ),
        )
    assert publish(warehouse, RUNS, make_run(ideas=4)).published
    return warehouse


@pytest.fixture
def warehouse(evaluated: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(evaluated.root, tmp_path / "warehouse"))


class Unreported(Ranking):
    """A ranking without its pages, which take longer than all else here."""

    def write_reports(self, head: RankingHead) -> tuple[Path, ...]:
        return ()


def request(warehouse: Warehouse, **fields: Any) -> RankRequest:
    profile = load_profile("economy")
    given: dict[str, Any] = {"run_id": RUN, "profile": profile, "engine": "litellm:fake", **fields}
    return rank_request(warehouse=warehouse.root, **given)


def ranked(warehouse: Warehouse, **fields: Any) -> RankSummary:
    ranking = Unreported(request(warehouse, **fields))
    plan = ranking.plan()
    for path in plan.shards:
        job = RankJob.model_validate_json(path.read_bytes())
        asyncio.run(
            rank_shard(job, warehouse, lambda _: FakeJudge(name="litellm:fake"), concurrency=4)
        )
    return conclude(ranking, plan)


@pytest.fixture(scope="module")
def ranked_once(
    evaluated: Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Warehouse, RankSummary]:
    warehouse = Warehouse(
        shutil.copytree(evaluated.root, tmp_path_factory.mktemp("ranked") / "warehouse")
    )
    return warehouse, ranked(warehouse)


def test_a_group_that_cannot_be_prepared_is_named_and_tried_again_and_the_others_are_published(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rank_plan.dossier_of

    def dossier_of(review: Any, group: str, prior: Any) -> Any:
        if group == "two":
            raise ZeroDivisionError("a bug")
        return whole(review, group, prior)

    with monkeypatch.context() as broken:
        broken.setattr(rank_plan, "dossier_of", dossier_of)
        summary = ranked(warehouse)
    assert (summary.published, summary.failed_expectations) == (True, ())
    assert summary.head.incomplete_reason == "internal_error"
    assert summary.remarks == ("group not ranked: two: it failed: ZeroDivisionError: a bug",)
    again = ranked(warehouse)
    assert (again.published, again.head.incomplete_reason, again.remarks) == (True, None, ())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"first": "nobody", "second": "no one", "winner": "first"}', "none of the 1 votes"),
        ("", "holds no vote"),
    ],
)
def test_votes_of_which_none_counts_are_an_error_and_no_ranking(
    line: str, expected: str, warehouse: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "votes.jsonl").write_text(line)
    with pytest.raises(ConfigurationError, match=expected):
        Ranking(request(warehouse, votes_path=tmp_path / "votes.jsonl")).plan()


def test_votes_of_the_lake_count_as_soon_as_they_are_cast(warehouse: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match="holds no votes on the ideas of run run-a"):
        Ranking(request(warehouse, votes_in_lake=True)).plan()
    ideas = {
        "first_id": make_evaluation(0).idea.idea_id,
        "second_id": make_evaluation(1).idea.idea_id,
    }
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        record(work, "human_votes", make_vote("counted", **ideas))
        record(work, "human_votes", make_vote("a check", check_passed=True, **ideas))
        record(work, "human_votes", make_vote("of other ideas"))
    summary = ranked(warehouse, votes_in_lake=True)
    assert (summary.published, summary.head.vote_count) == (True, 1)


def test_a_run_without_ideas_cannot_be_ranked_and_says_so(tmp_path: Path) -> None:
    empty = Warehouse(tmp_path / "empty")
    assert publish(empty, RUNS, make_run(ideas=0)).published
    with pytest.raises(ConfigurationError, match="run-a holds no ideas"):
        Ranking(request(empty)).plan()


def with_prior(folder: Path, engine: str, feature: str = WORDS) -> Profile:
    """A profile whose prior was fitted on the first idea and others, and expects more of ideas that
    say `sequencing`.
    """
    path = folder / "prior.json"
    fitted_on = (make_evaluation(0).idea.text,)
    write_prior(path, ("sequencing",), fitted_on=fitted_on, engine=engine, feature=feature)
    profile = load_profile("economy")
    return replace(profile, ranking=replace(profile.ranking, prior=str(path)))


def test_a_ranking_begins_from_its_prior_and_says_what_that_was_fitted_on(
    ranked_once: tuple[Warehouse, RankSummary], tmp_path: Path
) -> None:
    warehouse, plain = ranked_once
    summary = ranked(warehouse, profile=with_prior(tmp_path, "extractive"))
    assert summary.published
    assert summary.head.ranking_id != plain.head.ranking_id
    assert summary.remarks == (
        "the prior was fitted on 1 of these ideas: they are expected to be as good as the mean of"
        " the others",
    )
    with warehouse.queries() as queries:
        (known,) = queries.connection.sql(
            "select count(prior_strength) from ratings"
            f" where ranking_id = '{summary.head.ranking_id}' and method = 'bradley_terry'"
            " and dimension = 'overall'"
        ).fetchall()
    assert known == (3,)


def test_a_prior_of_another_engines_evidence_is_refused(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    profile = with_prior(tmp_path, "litellm:other", "neighbour_density_0_to_1")
    with pytest.raises(ConfigurationError, match="evidence graded by litellm:other"):
        Ranking(request(warehouse, profile=profile)).plan()


def bridging(pairs: int) -> Profile:
    profile = load_profile("economy")
    return replace(profile, ranking=replace(profile.ranking, bridge_pairs=pairs))


def test_groups_that_matches_join_are_ranked_over_all_of_them_and_the_ranking_says_so(
    ranked_once: tuple[Warehouse, RankSummary],
) -> None:
    warehouse, plain = ranked_once
    joined = ranked(warehouse, profile=bridging(2))
    assert (joined.published, joined.failed_expectations) == (True, ())
    with warehouse.queries() as queries:
        apart, together = (ideas_by_ranking(queries, one.head) for one in (plain, joined))
        said = [comparability(group_summaries(queries, one.head)) for one in (plain, joined)]
        page = ranking_report(warehouse, RUN, "md")
    assert [idea.rank_across_groups for idea in apart] == [None] * 4
    assert [idea.strength for idea in together] == [idea.strength for idea in apart]
    assert all(idea.strength_across_groups is not None for idea in together)
    assert said[0] == "strengths compare within a group only: no match joins the groups"
    assert said[1].startswith("strengths over all groups compare across groups: 24 verdicts")
    assert "The best over all groups" in page
    again = Ranking(request(warehouse, profile=bridging(2))).plan()
    assert again.shards == {}


def test_what_joins_the_groups_waits_for_them_and_is_gone_on_with_when_one_of_them_is(
    warehouse: Warehouse,
) -> None:
    ranking = Ranking(request(warehouse, profile=bridging(2)))
    plan = ranking.plan()
    *groups, across = (RankJob.model_validate_json(path.read_bytes()) for path in plan.shards)
    assert across.unit_names == ("across groups",)

    def work(job: RankJob, judge: FakeJudge) -> tuple[GroupReceipt, ...]:
        return asyncio.run(rank_shard(job, warehouse, lambda _: judge, concurrency=4))

    assert work(across, FakeJudge(name="litellm:fake")) == ()
    waves = ranking.waves()
    assert waves is not None
    assert [waves.is_waiting(name) for name in ("one", "across groups")] == [False, True]
    assert (waves.next(), waves.is_waiting("across groups"), waves.next()) == (True, False, False)

    def down(_first: str, _second: str) -> Reason:
        return Reason.BUDGET_EXHAUSTED

    for job in groups:
        work(job, FakeJudge(down, name="litellm:fake"))
    (early,) = work(across, FakeJudge(name="litellm:fake"))
    assert early.incomplete_reason == Reason.BUDGET_EXHAUSTED
    whole = ranked(warehouse, profile=bridging(2))
    assert (whole.published, whole.head.incomplete_reason) == (True, None)
