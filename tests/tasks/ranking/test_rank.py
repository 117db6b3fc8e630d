"""Groups from dossiers to ratings: what is asked, what is handed out, what a kill costs."""

import asyncio
from typing import Any

import pytest

from schemas.errors import ConfigurationError
from schemas.judgement.ranking import Match, RatingMethod, Winner
from schemas.reasons import Reason
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from tasks.ranking.dimensions import DIMENSIONS
from tasks.ranking.dossier import Bearing, DossierEvidence
from tasks.ranking.rank import JoinedGroups, RankingOutcome, rank_groups
from tests.support.contribution_fakes import WordEmbedder, paper
from tests.support.ranking_fakes import FakeJudge, by_name, dossier, match, parameters

NAMES = ("a", "b", "c", "d")


class KilledError(Exception):
    """The process is gone."""


async def ranked(judge: Any, names: Any = NAMES, **options: Any) -> RankingOutcome:
    dossiers = options.pop("dossiers", None) or [dossier(name) for name in names]
    chosen = options.pop("parameters", parameters())
    return await rank_groups(
        dossiers,
        chosen,
        judge,
        options.pop("seed", 1),
        dimensions=options.pop("dimensions", DIMENSIONS),
        **options,
    )


def overall(
    found: RankingOutcome, method: RatingMethod = RatingMethod.BRADLEY_TERRY
) -> dict[str, Any]:
    return {
        rating.idea_id: rating
        for rating in found.ratings
        if rating.dimension == "overall" and rating.method is method
    }


def stripped(found: RankingOutcome) -> Any:
    """All but the moments."""
    plain = [
        one.model_copy(update={"created_at": None, "provenance": None}) for one in found.matches
    ]
    return found.groups, plain, found.ratings


async def test_every_pair_is_asked_once_in_each_order_for_all_dimensions() -> None:
    judge = FakeJudge()
    found = await ranked(judge)
    assert sorted(judge.asked) == sorted(
        (one, other) for one in NAMES for other in NAMES if one != other
    )
    assert len(found.matches) == len(judge.asked) * 6
    assert [overall(found)[name].rank for name in NAMES] == [4, 3, 2, 1]
    (summary,) = found.groups
    assert (summary.position_bias, summary.order_agreement_0_to_1, summary.schedule) == (
        0.0,
        1.0,
        "round_robin",
    )


async def test_a_judge_that_always_says_a_is_shown_as_biased_and_orders_nobody() -> None:
    found = await ranked(FakeJudge(lambda first, second: "A"), with_votes=True)
    (summary,) = found.groups
    assert summary.position_bias == pytest.approx(0.98)
    assert summary.order_agreement_0_to_1 == 0.0
    for method in RatingMethod:
        assert {rating.rank for rating in overall(found, method).values()} == {1}
        assert {rating.worst_rank for rating in overall(found, method).values()} == {4}


async def test_the_same_seed_gives_the_same_result_whatever_the_order_of_dossiers_and_answers() -> (
    None
):
    chosen = parameters(round_robin_limit=2, matches_per_idea=4)
    names = [f"i{number:02d}" for number in range(15)]
    one = await ranked(FakeJudge(), names, parameters=chosen, concurrency=1)
    other = await ranked(FakeJudge(), names[::-1], parameters=chosen, concurrency=16)
    assert stripped(one) == stripped(other)
    assert stripped(one) != stripped(await ranked(FakeJudge(), names, parameters=chosen, seed=2))


@pytest.mark.parametrize("limit", [2, 8])
async def test_a_kill_costs_only_the_calls_in_flight(limit: int) -> None:
    landed: list[Match] = []
    names = [f"i{number}" for number in range(8)]
    chosen = parameters(round_robin_limit=limit, matches_per_idea=5)

    async def land_some(found: tuple[Match, ...]) -> None:
        if len(landed) >= 60:
            raise KilledError
        landed.extend(found)

    whole_judge, second_judge = FakeJudge(), FakeJudge()
    whole = await ranked(whole_judge, names, parameters=chosen)
    with pytest.raises(ExceptionGroup):
        await ranked(FakeJudge(), names, parameters=chosen, deliver=land_some, concurrency=2)
    again = await ranked(second_judge, names, parameters=chosen, stored=landed)
    assert stripped(again) == stripped(whole)
    assert len(landed) == 60
    assert len(second_judge.asked) == len(whole_judge.asked) - 10
    third = FakeJudge()
    assert stripped(
        await ranked(third, names, parameters=chosen, stored=whole.matches)
    ) == stripped(whole)
    assert third.asked == []


async def test_only_dimensions_that_are_missing_are_asked() -> None:
    first = await ranked(FakeJudge(), dimensions=DIMENSIONS[:2])
    judge = FakeJudge()
    again = await ranked(judge, stored=first.matches)
    assert len(judge.asked) == 12
    assert len(again.matches) == 72
    assert {one.match_id for one in first.matches} < {one.match_id for one in again.matches}


async def test_what_changed_is_asked_again() -> None:
    first = await ranked(FakeJudge())
    judge = FakeJudge()
    dossiers = [dossier(name, text="Rewritten." if name == "a" else "") for name in NAMES]
    await ranked(judge, dossiers=dossiers, stored=first.matches)
    assert sorted(judge.asked) == sorted(
        pair for name in "bcd" for pair in (("a", name), (name, "a"))
    )


async def test_a_budget_that_ends_stops_the_asking_and_a_later_run_goes_on() -> None:
    def broke(first: str, second: str) -> Reason:
        return Reason.BUDGET_EXHAUSTED

    judge = FakeJudge(broke)
    stopped = await ranked(judge)
    assert len(judge.asked) == 4
    assert "budget_exhausted" in stopped.groups[0].ended_because
    assert all(rating.rank is None and rating.unranked_reason for rating in stopped.ratings)
    later = await ranked(FakeJudge(), stored=stopped.matches)
    assert [overall(later)[name].rank for name in NAMES] == [4, 3, 2, 1]


async def test_a_refusal_about_one_idea_leaves_the_others_ranked() -> None:
    def refuses(first: str, second: str) -> str | Reason:
        return Reason.REFUSED if "c" in (first, second) else by_name(first, second)

    judge = FakeJudge(refuses)
    found = await ranked(judge)
    assert {name: rating.rank for name, rating in overall(found).items()} == {
        "a": 3,
        "b": 2,
        "c": None,
        "d": 1,
    }
    assert "none of its 6 matches could be scored" in overall(found)["c"].unranked_reason
    assert found.groups[0].unscored_match_count == 36
    assert found.groups[0].island_count == 2
    refused_again = FakeJudge()
    await ranked(refused_again, stored=found.matches)
    assert refused_again.asked == []


async def test_matches_of_another_engine_never_mix() -> None:
    first = await ranked(FakeJudge(name="litellm:one"))
    with pytest.raises(ConfigurationError, match="judged by litellm:one, not by litellm:two"):
        await ranked(FakeJudge(name="litellm:two"), stored=first.matches)


async def test_human_votes_count_in_elo_alone() -> None:
    votes = [
        match("a", "d", Winner.FIRST, number, judge=f"human:v{number}") for number in range(1, 40)
    ]
    assert {rating.method for rating in (await ranked(FakeJudge())).ratings} == {
        RatingMethod.BRADLEY_TERRY
    }, "Elo is there for votes"
    plain = await ranked(FakeJudge(), with_votes=True)
    voted = await ranked(FakeJudge(), stored=votes, with_votes=True)
    assert overall(voted) == overall(plain)
    assert (
        overall(voted, RatingMethod.ELO)["a"].strength
        > overall(plain, RatingMethod.ELO)["a"].strength + 20
    )
    assert len(voted.matches) == len(plain.matches) + len(votes)


async def test_groups_are_ranked_apart_and_a_group_of_one_says_why_it_is_not() -> None:
    dossiers = [
        dossier("a", "x"),
        dossier("b", "x"),
        dossier("c", "y"),
        dossier("d", None),
        dossier("e", None),
    ]
    judge = FakeJudge()
    found = await ranked(judge, dossiers=dossiers)
    assert [summary.group for summary in found.groups] == ["all", "x", "y"]
    assert sorted(judge.asked) == [("a", "b"), ("b", "a"), ("d", "e"), ("e", "d")]
    assert "alone in its group" in overall(found)["c"].unranked_reason


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    class Counting(FakeJudge):
        now = most = 0

        async def run(self, step: Any, inputs: Any) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            outcome = await super().run(step, inputs)
            self.now -= 1
            return outcome

    judge = Counting()
    await ranked(judge, concurrency=3)
    assert judge.most == 3


async def test_calls_are_booked_on_the_idea_shown_first() -> None:
    judges = {name: FakeJudge() for name in NAMES}
    await ranked(FakeJudge(), engine_of=judges.__getitem__)
    assert {name: {first for first, _ in judge.asked} for name, judge in judges.items()} == {
        name: {name} for name in NAMES
    }


async def test_the_extractive_engine_ranks_with_reasons_that_link_to_papers() -> None:
    source = paper("p1", url="https://example.org/p1")
    dossiers = [
        dossier(
            "a",
            text="Equal.",
            evidence=(DossierEvidence(paper=source, text="It works.", bearing=Bearing.FOR),),
        ),
        dossier(
            "b",
            text="Equal.",
            evidence=(DossierEvidence(paper=source, text="It fails.", bearing=Bearing.AGAINST),),
        ),
    ]
    found = await ranked(ExtractiveEngine(BaselineTools(WordEmbedder()), 7), dossiers=dossiers)
    assert found.groups[0].position_bias == 0.0
    assert overall(found)["a"].rank == 1
    (why,) = [
        one.rationale
        for one in found.matches
        if one.dimension == "validity" and one.first_idea_id == "a"
    ]
    assert "https://example.org/p1" in why
    assert "[P1]" not in why


async def test_matches_between_groups_put_all_ideas_on_one_scale() -> None:
    dossiers = [dossier(name, "low" if name < "e" else "high") for name in "abcdefgh"]
    judge = FakeJudge()
    apart = await ranked(judge, dossiers=dossiers)
    asked_within = len(judge.asked)
    chosen = parameters(bridge_pairs=3)
    joined = await ranked(
        judge,
        dossiers=dossiers,
        parameters=chosen,
        joined=JoinedGroups("all of them", apart.matches),
    )
    between = judge.asked[asked_within:]
    assert len(between) == 6, "three pairs in both orders"
    assert all((first < "e") != (second < "e") for first, second in between)
    strengths = {name: rating.strength for name, rating in overall(joined).items()}
    assert min(strengths[name] for name in "efgh") > max(strengths[name] for name in "abc")
    (summary,) = joined.groups
    assert (summary.joins_groups, summary.island_count, summary.match_count) == (True, 1, 36)
    assert {match.group for match in joined.matches} == {"all of them"}
    assert {rating.method for rating in joined.ratings} == {RatingMethod.BRADLEY_TERRY}
    again = FakeJudge()
    resumed = await ranked(
        again,
        dossiers=dossiers,
        parameters=chosen,
        joined=JoinedGroups("all of them", apart.matches),
        stored=joined.matches[:18],
    )
    assert len(again.asked) == 3
    assert resumed.ratings == joined.ratings


class PatientJudge(FakeJudge):
    """Answers nobody before `count` questions were asked."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._all_asked = asyncio.Event()

    async def run(self, step: Any, inputs: Any) -> Any:
        answer = await super().run(step, inputs)
        if len(self.asked) == self._count:
            self._all_asked.set()
        await asyncio.wait_for(self._all_asked.wait(), 20)
        return answer


async def test_a_ranking_chosen_beforehand_asks_everything_before_the_first_answer() -> None:
    few, many = NAMES, tuple(f"{number:02}" for number in range(11))
    found = await ranked(PatientJudge(12), few, beforehand=True)
    plain = await ranked(FakeJudge(), few)
    assert [(one.match_id, one.round) for one in found.matches] == [
        (one.match_id, one.round) for one in plain.matches
    ]
    assert found.groups == plain.groups
    limits = parameters(round_robin_limit=8, matches_per_idea=4)
    found = await ranked(PatientJudge(4 * 5 * 2), many, parameters=limits, beforehand=True)
    (summary,) = found.groups
    assert (summary.schedule, summary.island_count) == ("fixed", 1)
    assert "4 pairs" in summary.ended_because
    assert {one.round for one in found.matches} == {1, 2, 3, 4}
