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


TITLES = {
    RETRACTED: (
        "RETRACTED: Moths on drones",
        "Retracted: Moths on drones",
        "[Retracted] Moths on drones",
        "(retracted) Moths on drones",
        "RETRACTED ARTICLE: Moths on drones",
        "Retracted Article - Moths on drones",
        "RETRACTED ARTICLE Moths on drones",
        "Article retracted: Moths on drones",
        "Moths on drones (Retracted article. See vol. 12, pg. 3, 2020)",
        "Moths on drones [RETRACTED]",
        "Moths on drones (retracted on 3 June 2024)",
        "Retracted and replaced: Moths on drones",
        "Retracted and Republished: Moths on drones",
        "Moths on drones - RETRACTED",
        "Retraction: Moths on drones",
        "Retraction Note to: Moths on drones",
        "Retraction Note: Moths on drones",
        "Retraction notice to “Moths on drones” [J. Bats 12 (2020) 3]",
        "Retraction notice to Moths on drones",
        'Retraction of "Moths on drones"',
        "Notice of Retraction: Moths on drones",
        "Notice of Retraction Moths on drones",
        "Statement of Retraction: Moths on drones",
        "Retraction for Writer et al., Moths on drones",
    ),
    WITHDRAWN: (
        "Moths on drones (Withdrawn: see the notice)",
        "Moths on drones (withdrawn article, 2024)",
        "WITHDRAWN: Moths on drones",
        "Withdrawn article: Moths on drones",
        "[Withdrawn] Moths on drones",
        "Article removed: Moths on drones",
        "Notice of Removal: Moths on drones",
        "Removal notice: Moths on drones",
        "Withdrawal: Moths on drones",
        "Withdrawal notice to: Moths on drones",
        "REMOVED: Moths on drones",
    ),
    OF_CONCERN: (
        "Expression of Concern: Moths on drones",
        "Editorial Expression of Concern: Moths on drones",
        "Expression of concern regarding Moths on drones",
    ),
    NOTICE: (
        "Erratum to: Moths on drones",
        "Author Correction: Moths on drones",
        "Corrigendum to “Moths on drones”",
        "Correction to: Moths on drones",
        "Erratum",
    ),
}


@pytest.mark.parametrize("state", TITLES)
def test_titles_tell_the_state_of_a_work(state: PaperState) -> None:
    for title in TITLES[state]:
        assert state_of_title(title) is state, title
        if title != "Erratum":
            assert unmarked_title(title).startswith("Moths on drones"), title


def test_ordinary_titles_tell_no_state() -> None:
    titles = (
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
    )
    assert [title for title in titles if state_of_title(title) is not None] == []


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
