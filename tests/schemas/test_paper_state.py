"""Titles, abstracts and flags that tell the state of a work."""

import pytest

from schemas.literature.paper_state import (
    PaperState,
    state_of,
    state_of_title,
    title_of_notice,
    unmarked_title,
)

RETRACTED, WITHDRAWN = PaperState.RETRACTED, PaperState.WITHDRAWN
OF_CONCERN, NOTICE = PaperState.OF_CONCERN, PaperState.NOTICE


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("RETRACTED: Moths on drones", RETRACTED),
        ("Retracted: Moths on drones", RETRACTED),
        ("[Retracted] Moths on drones", RETRACTED),
        ("(retracted) Moths on drones", RETRACTED),
        ("RETRACTED ARTICLE: Moths on drones", RETRACTED),
        ("Retracted Article - Moths on drones", RETRACTED),
        ("RETRACTED ARTICLE Moths on drones", RETRACTED),
        ("Article retracted: Moths on drones", RETRACTED),
        ("Moths on drones (Retracted article. See vol. 12, pg. 3, 2020)", RETRACTED),
        ("Moths on drones [RETRACTED]", RETRACTED),
        ("Moths on drones (Withdrawn: see the notice)", WITHDRAWN),
        ("Moths on drones (retracted on 3 June 2024)", RETRACTED),
        ("Moths on drones (withdrawn article, 2024)", WITHDRAWN),
        ("Retracted and replaced: Moths on drones", RETRACTED),
        ("Retracted and Republished: Moths on drones", RETRACTED),
        ("Moths on drones - RETRACTED", RETRACTED),
        ("Retraction: Moths on drones", RETRACTED),
        ("Retraction Note to: Moths on drones", RETRACTED),
        ("Retraction Note: Moths on drones", RETRACTED),
        ("Retraction notice to “Moths on drones” [J. Bats 12 (2020) 3]", RETRACTED),
        ("Retraction notice to Moths on drones", RETRACTED),
        ('Retraction of "Moths on drones"', RETRACTED),
        ("Notice of Retraction: Moths on drones", RETRACTED),
        ("Notice of Retraction Moths on drones", RETRACTED),
        ("Statement of Retraction: Moths on drones", RETRACTED),
        ("Retraction for Writer et al., Moths on drones", RETRACTED),
        ("WITHDRAWN: Moths on drones", WITHDRAWN),
        ("Withdrawn article: Moths on drones", WITHDRAWN),
        ("[Withdrawn] Moths on drones", WITHDRAWN),
        ("Article removed: Moths on drones", WITHDRAWN),
        ("Notice of Removal: Moths on drones", WITHDRAWN),
        ("Removal notice: Moths on drones", WITHDRAWN),
        ("Withdrawal: Moths on drones", WITHDRAWN),
        ("Withdrawal notice to: Moths on drones", WITHDRAWN),
        ("REMOVED: Moths on drones", WITHDRAWN),
        ("Expression of Concern: Moths on drones", OF_CONCERN),
        ("Editorial Expression of Concern: Moths on drones", OF_CONCERN),
        ("Expression of concern regarding Moths on drones", OF_CONCERN),
        ("Erratum to: Moths on drones", NOTICE),
        ("Author Correction: Moths on drones", NOTICE),
        ("Corrigendum to “Moths on drones”", NOTICE),
        ("Correction to: Moths on drones", NOTICE),
        ("Erratum", NOTICE),
    ],
)
def test_titles_tell_the_state_of_a_work(title: str, state: PaperState) -> None:
    assert state_of_title(title) is state
    if title != "Erratum":
        assert unmarked_title(title).startswith("Moths on drones")


@pytest.mark.parametrize(
    "title",
    [
        "Retraction of the proboscis in Drosophila",
        "Retraction rates in oncology: a survey",
        "Retracted papers in oncology: an analysis",
        "RETRACTED PAPERS IN ONCOLOGY",
        "Withdrawn drugs - a review",
        "Withdrawal of glaciers in the Alps",
        "Correction of refractive errors: a trial",
        "Error correction: a review",
        "Concern for others: an experiment",
        "A study of why articles are retracted",
        "Predicting retractions (and corrections)",
        "Removal of nitrate from water: a review",
        "Notices of the society",
        "Cortisol responses in smokers (withdrawn from nicotine)",
        "Behaviour of rats [withdrawn from morphine]",
        "Tests of landing gear (retracted and extended)",
        "Removal: a new approach",
        "Removal of “forever chemicals” from water",
        "Withdrawn: the lives of recluses in Japan",
        "Withdrawal – a memoir",
        "Removed – the history of a people",
        "Retracted—now what?",
        "“Removed”: the history of a people",
        "",
    ],
)
def test_ordinary_titles_tell_no_state(title: str) -> None:
    assert state_of_title(title) is None


@pytest.mark.parametrize(
    ("abstract", "state"),
    [
        ("This paper has been withdrawn by the authors due to an error.", WITHDRAWN),
        ("This article has been retracted: please see the policy of the publisher.", RETRACTED),
        ("Withdrawn.", WITHDRAWN),
        ("This submission is withdrawn because of a gap in lemma 3.", WITHDRAWN),
        ("This paper studies articles that have been retracted.", None),
        ("Withdrawn patients were left out of the analysis.", None),
        ("The paper was retracted quickly in most cases that we study.", None),
    ],
)
def test_abstracts_tell_that_a_work_was_taken_back(abstract: str, state: PaperState | None) -> None:
    assert state_of("Moths on drones", abstract) is state


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (True, RETRACTED),
        ("True", RETRACTED),
        (1, RETRACTED),
        (False, None),
        (["Journal Article", "Retracted Publication"], RETRACTED),
        (["Journal Article", "Expression of Concern"], OF_CONCERN),
        (["JournalArticle"], None),
        ([{"type": "correction"}, {"type": "withdrawal"}], WITHDRAWN),
        ([{"type": "expression_of_concern"}], OF_CONCERN),
        ("is-retracted-by", RETRACTED),
        ("erratum", NOTICE),
        (None, None),
        ([None, 3], None),
    ],
)
def test_flags_and_kinds_of_sources_tell_the_state(told: object, state: PaperState | None) -> None:
    assert state_of("Moths on drones", None, told) is state


def test_a_notice_names_the_work_that_it_takes_back() -> None:
    assert title_of_notice("Retraction Note to: Moths on drones") == "Moths on drones"
    assert title_of_notice("RETRACTED: Moths on drones") is None
    assert title_of_notice("Moths on drones") is None
