"""The report on a ranking: uncertainty shown, reasons cited, and nothing that ideas or judges wrote
acts on the page.
"""

from functools import cache

import pytest

from dashboards.render.formats.markdown import markdown
from dashboards.views.ranking_page import _duels
from dashboards.views.sensitivity import sensitivity_of
from dashboards.views.write_run import write_reports
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.standing import IdeaState
from tests.support import reports
from tests.support.evaluations import make_evaluation
from tests.support.ranked_lake import publish_ranking_of_report_lake
from tests.support.rankings import make_ranked_group
from tests.support.report_lake import RUN
from tests.support.site import copied
from warehouse.row_models import IdeaScore, RankedIdea, ScoreBasis
from warehouse.warehouse import Warehouse

ranking_report = cache(reports.ranking_report)  # several tests read the same page
run_report = cache(reports.run_report)  # several tests read the same page


@pytest.fixture(scope="module")
def ranked(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    copy = copied(warehouse, tmp_path_factory.mktemp("ranked"))
    publish_ranking_of_report_lake(copy)
    return copy


def test_a_run_without_ranking_says_how_to_make_one(warehouse: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match="assay rank run-a"):
        ranking_report(warehouse, RUN, "md")


def test_the_report_shows_ranges_profiles_matrix_reasons_and_bias(ranked: Warehouse) -> None:
    text = ranking_report(ranked, RUN, "md")
    assert "| 1 | 1–2 |" in text
    assert "Ranks along each dimension" in text
    assert "| 2–0 |" in text
    assert "(https://example.org/p1)" in text
    assert "Position bias 0.00" in text
    assert "1 unscored (1: the engine refused to answer)" in text
    assert "How much the weights matter" in text


def test_reasons_speak_of_this_idea_and_the_other_whichever_was_shown_first() -> None:
    ideas = [make_evaluation(number).idea.idea_id for number in (0, 3)]
    group = make_ranked_group(
        ideas, rationale="Idea A rests on [(Doe, 2021)](https://example.org/a); idea B does not."
    )
    ranked = [
        RankedIdea.model_construct(idea_id=idea_id, title=f"Title {place}", rank=place)
        for place, idea_id in enumerate(ideas, start=1)
    ]
    as_first, as_second = (
        [one for one in group.matches if one.first_idea_id == idea_id] for idea_id in ideas
    )
    for matches, expected in (
        (
            as_first,
            "This idea rests on [(Doe, 2021)](https://example.org/a); the other idea does not.",
        ),
        (
            as_second,
            "The other idea rests on [(Doe, 2021)](https://example.org/a); this idea does not.",
        ),
    ):
        (duel,) = _duels(ranked, matches)
        written = markdown(duel)
        assert written.count("idea rests on") == written.count(expected) > 0


def test_nothing_ideas_or_judges_wrote_becomes_html(ranked: Warehouse) -> None:
    page = ranking_report(ranked, RUN, "html")
    body = page.split("</style>")[1]
    assert body.count("<figure") == 2
    assert [
        tag for tag in ("<script", "<img", "<b>", "<svg onload", 'href="javascript') if tag in body
    ] == []


@pytest.mark.long
def test_written_reports_link_the_ranking(ranked: Warehouse) -> None:
    index, _ = write_reports(ranked, RUN)
    assert 'href="ranking.html"' in index.read_text()
    assert (index.parent / "ranking.html").exists()
    assert "(ranking.md)" in run_report(ranked, RUN, "md")


def score(idea_id: str, soundness: float | None, contribution: float | None) -> IdeaScore:
    counts = {name: 0 for name, field in IdeaScore.model_fields.items() if field.annotation is int}
    fields = {
        name: None for name, field in IdeaScore.model_fields.items() if field.is_required()
    } | counts
    known = {
        "idea_id": IdeaId(idea_id),
        "run_id": RUN,
        "title": idea_id,
        "soundness_requested": True,
        "contribution_requested": True,
        "state": IdeaState.SCORED,
    }
    flags = {
        name: False for name, field in IdeaScore.model_fields.items() if field.annotation is bool
    }
    values = {"soundness_0_to_10": soundness, "contribution_0_to_10": contribution}
    return IdeaScore.model_validate(fields | flags | known | values)


def test_an_idea_best_in_everything_leads_under_every_weighting_and_a_one_sided_one_under_some() -> (
    None
):
    others = [score(f"filler-{number}", 5.0, 5.0) for number in range(9)]
    ideas = [score("best", 9.0, 9.0), score("sound", 9.0, 0.0), score("new", 0.0, 9.0), *others]
    found = sensitivity_of(ideas)
    assert found is not None
    shares = {score.idea_id: share for score, share in found.shares}
    assert shares["best"] == 1.0
    assert 0 < shares["sound"] < 1
    assert 0 < shares["new"] < 1
    assert found == sensitivity_of(ideas)


def test_an_idea_that_a_module_did_not_score_is_left_out_under_any_weights() -> None:
    others = [score(f"filler-{number}", 5.0, 5.0) for number in range(10)]
    found = sensitivity_of([score("half", 8.0, None), score("whole", 8.0, 8.0), *others])
    assert found is not None
    shares = {score.idea_id: share for score, share in found.shares}
    assert (shares.get("half"), shares["whole"], found.left_out) == (None, 1.0, 1)


def test_in_an_assessed_run_the_weights_of_criteria_are_varied() -> None:
    ideas = [
        replace(
            score(f"idea-{number}", 5.0, None),
            score_basis=ScoreBasis.ASSESSMENT,
            worth_asking_0_to_1=number / 20,
            new_0_to_1=1 - number / 20,
            decisive_test_0_to_1=0.5,
            feasible_0_to_1=0.5,
        )
        for number in range(12)
    ]
    found = sensitivity_of(ideas)
    assert found is not None
    assert found.parts == ("worth_asking", "new", "decisive_test", "feasible")
    assert all(
        0 < share < 1 for score, share in found.shares if score.idea_id in ("idea-0", "idea-11")
    )


def test_one_module_has_no_weights_to_vary() -> None:
    assert sensitivity_of([score("one", 8.0, None), score("two", 7.0, None)]) is None
