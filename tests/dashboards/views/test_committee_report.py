"""What a report says of the committee: its verdict, its members, what they knew, and what they
could not say.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.committee import CommitteeEvaluation
from schemas.profile import ScoreWeights
from tests.support import reports
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import make_run
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.reports import Page
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

idea_report = cache(reports.idea_report)  # several tests read the same page
run_report = cache(reports.run_report)  # several tests read the same page

RUN = RunId("run-a")
SOUND, HOSTILE = IdeaId("idea-00000"), IdeaId("idea-00001")


def _hostile(committee: CommitteeEvaluation | None) -> CommitteeEvaluation:
    assert committee is not None
    assert committee.meta_review is not None
    texts = dict.fromkeys(("summary", "strengths", "weaknesses", "suggestions"), HOSTILE_TEXT)
    return replace(
        committee,
        claims=tuple(replace(claim, statement=HOSTILE_TEXT) for claim in committee.claims),
        knowledge=tuple(
            replace(record, title=HOSTILE_TEXT, url="javascript:alert(5)")
            for record in committee.knowledge
        ),
        evidence=tuple(
            replace(row, evidence=HOSTILE_TEXT, analysis=HOSTILE_TEXT) for row in committee.evidence
        ),
        reviews=tuple(
            review if review.unscored_reason else replace(review, review=HOSTILE_TEXT)
            for review in committee.reviews
        ),
        meta_review=replace(committee.meta_review, **texts),
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(tmp_path_factory.mktemp("committee"))
    land(warehouse, make_full_evaluation(0))
    attacked = make_full_evaluation(1)
    land(warehouse, replace(attacked, committee=_hostile(attacked.committee)))
    weights = ScoreWeights(soundness=1.0, contribution=1.0, committee=2.0, novelty=0.5)
    run = make_run(
        "run-a", ideas=2, modules="soundness,contribution,committee,novelty", score_weights=weights
    )
    assert publish(warehouse, RUNS, run).published
    yield warehouse


def test_the_verdict_the_members_and_their_spread_are_shown(lake: Warehouse) -> None:
    report = idea_report(lake, RUN, SOUND, "md", full=True)
    assert re.search(r"^## Committee · \d\.\d\d of 10, Poster$", report, re.MULTILINE)
    assert "| Dimension | Mean | Spread | ada | bo |" in report
    assert re.search(
        r"^\| novelty \| \d.* \| 0\.50 \| \d\.\d \| unscored \|$", report, re.MULTILINE
    )
    assert "alpha of the reviewers over the dimensions: +0.25" in report
    assert "Saw 2 pieces of evidence, 0 withheld" in report
    assert re.search(r"^\*\*novelty: unscored: .*\*\*$", report, re.MULTILINE)


def test_pages_and_later_finds_are_named_apart_from_papers_and_parts_that_lack_are_said_to(
    lake: Warehouse,
) -> None:
    report = idea_report(lake, RUN, SOUND, "md", full=True)
    assert "- [Item k2](https://example.org/k2) (2025-01-01)" in report
    assert "Suggestions, from what appeared after the cutoff" in report
    assert (
        "Found from before the cutoff: 1 papers, 1 web; later, for suggestions only: 1." in report
    )
    assert report.count("The idea does not say.") == 4


def test_what_members_could_not_say_is_among_the_gaps(lake: Warehouse) -> None:
    report = idea_report(lake, RUN, SOUND, "md", full=True)
    assert re.search(
        r"^\| unscored: review by a member of the committee \| 1 \|", report, re.MULTILINE
    )


def test_hostile_knowledge_and_reviews_change_nothing_but_the_words(lake: Warehouse) -> None:
    sound, attacked = (
        re.findall(r"^##? .+$", idea_report(lake, RUN, name, "md", full=True), re.MULTILINE)
        for name in (SOUND, HOSTILE)
    )
    assert len(sound) == len(attacked)
    page = Page(idea_report(lake, RUN, HOSTILE, "html", full=True))
    assert not page.elements & {"script", "img", "iframe"}
    assert all(
        address.startswith(("#section-", "https://", "http://")) for address in page.addresses
    )
