"""A bad row trips the check that is there for it, and a good evaluation trips none."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from schemas.base import Severity, replace
from schemas.failure import LEFT_OUT
from schemas.reasons import Reason
from schemas.run import Module
from tests.support.assessed_evaluations import make_assessed_evaluation
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import (
    make_evaluation,
    rows_of,
)
from tests.support.rules import broken_rules
from warehouse.rows import Rows
from warehouse.statements import names

Broken = Callable[[Rows], Any]


def change(table: str, row: int = 0, **values: Any) -> Broken:
    return lambda rows: rows[table][row].update(values)


def remove(*tables: str) -> Broken:
    return lambda rows: [rows.pop(table) for table in tables]


RULES: dict[str, dict[str, Broken]] = {
    "citations refers_to_papers_paper_id": {
        "citation of a paper never retrieved": change("citations", paper_id="invented"),
    },
    "comparisons refers_to_papers_paper_id": {
        "comparison with a paper never retrieved": change("comparisons", paper_id="invented"),
    },
    "method_evidence refers_to_papers_paper_id": {
        "evidence from a paper never retrieved": change("method_evidence", paper_id="invented"),
    },
    "soundness_reviews refers_to_methods_method_id": {
        "review of a method never extracted": change("soundness_reviews", method_id="m9"),
    },
    "judge_votes refers_to_ideas_idea_id": {
        "vote of another idea": change("judge_votes", idea_id="stranger"),
    },
    "a_score_or_a_reason_never_both": {
        "vote with a score and a reason": change("judge_votes", unscored_reason=Reason.REFUSED),
        "vote with neither": change("judge_votes", score=None),
        "review of the plan with a count and a reason": change(
            "plan_reviews", unscored_reason=Reason.REFUSED
        ),
        "officer's answer with a status and a reason": change(
            "officer_answers", unscored_reason=Reason.REFUSED
        ),
        "decision and reason": change("meta_reviews", unscored_reason=Reason.REFUSED),
        "persona without score or reason": change("persona_reviews", score_0_to_10=None),
        "grounding without relation or reason": change("evidence", relation=None),
        "novelty without score or reason": change("novelty", score_1_to_5=None),
        "score and reason": change("soundness_reviews", unscored_reason=Reason.REFUSED),
        "neither score nor reason": change("comparisons", score=None),
        "evidence neither judged nor with a reason": change("method_evidence", relevant=None),
        "candidate with relevance and reason": change("candidates", unscored_reason=Reason.REFUSED),
        "mean without comparisons": change("contribution_reviews", scored_comparison_count=0),
        "assessment with a probability and a reason": change(
            "assessments", unscored_reason=Reason.REFUSED
        ),
    },
    "llm_calls refers_to_ideas_idea_id": {
        "model call of another idea": change("llm_calls", idea_id="stranger"),
    },
    "api_calls refers_to_ideas_idea_id": {
        "request of another idea": change("api_calls", idea_id="stranger"),
    },
    "no_paper_after_the_cutoff_is_used": {
        "used paper dated after the cutoff": change("papers", publication_date=date(2026, 1, 1)),
        "used paper of the cutoff's year": change("papers", publication_date=None, year=2025),
        "used paper of a meeting after the cutoff": change(
            "papers", publication_date=None, year=2025, venue="EMNLP"
        ),
        "used paper without any date": change("papers", publication_date=None, year=None),
    },
    "no_work_that_does_not_stand_is_used": {
        "used paper that was retracted": change("papers", state="retracted"),
    },
    "no_paper_after_the_cutoff_is_kept": {
        "kept paper dated after the cutoff": change("papers", 7, publication_date=date(2026, 1, 1)),
    },
    "every_idea_has_a_review_or_a_failure": {
        "soundness without review or failure": remove(
            "soundness_reviews", "soundness_summaries", "failures"
        ),
        "contribution without review or failure": remove("contribution_reviews", "failures"),
        "committee without review or failure": remove("persona_reviews", "failures"),
        "novelty without judgement or failure": remove("novelty", "failures"),
        "assessment without judgement or failure": remove("assessments", "failures"),
    },
    "plan_reviews_count_their_concerns": {
        "review of the plan that miscounts its concerns": change("plan_reviews", concern_count=9),
        "concern that nobody raised or weighed": lambda rows: [
            row.update(decision_place=None) for row in rows["concerns"]
        ],
    },
    "every_idea_asked_for_something": {
        "nothing asked for": change("ideas", **{f"{module}_requested": False for module in Module}),
    },
    "citations refers_to_knowledge_items_knowledge_id": {
        "citation of knowledge never found": change("citations", 3, knowledge_id="k9"),
    },
    "evidence refers_to_knowledge_items_knowledge_id": {
        "evidence from knowledge never found": change("evidence", knowledge_id="k9"),
    },
    "totals_are_means_of_their_persona_reviews": {
        "total of other reviews": change("meta_reviews", total_score_0_to_10=9.99),
        "unscored review counted as scored": change("meta_reviews", scored_review_count=4),
    },
    "no_later_knowledge_is_judged_by": {
        "later knowledge as judging": change("knowledge_items", 2, phase="before"),
        "undated knowledge as judging": change("knowledge_items", 1, published=None),
        "evidence of another phase": change("evidence", 2, phase="before"),
        "later knowledge cited in a review": change("citations", 4, field="review"),
    },
    "comparisons_cover_every_paper_and_dimension": {
        "comparison left out": lambda rows: rows["comparisons"].pop(),
    },
    "only_compared_papers_are_compared": {
        "comparison with a paper not chosen": change("candidates", compared=False),
    },
    "means_are_means_of_their_comparisons": {
        "mean of other comparisons": change("contribution_reviews", mean_comparison_score=0.99),
    },
    "percentages_sum_to_100": {
        "percentages that sum to 173": change(
            "novelty", probabilities_percent='{"1": 73, "5": 100}'
        ),
    },
    "scored_reviews_have_text": {
        "assessment without a word": change("assessments", reasons=[]),
        "score without a word": change("persona_reviews", review=""),
    },
    "assessments_are_medians_of_their_repetitions": {
        "median beyond the highest repetition": change("assessments", probability_0_to_1=0.99),
        "assessment that miscounts its repetitions": change("assessments", repetition_count=4),
    },
    "officer_answers_show_their_words": {
        "statement without the plan's words": change("officer_answers", 3, quote=""),
        "contradiction by no paper": change("officer_answers", paper_id=None),
        "contradiction without the paper's words": change("officer_answers", paper_quote=""),
    },
    "concerns_decide_one_after_the_other": {
        "two concerns in one place": change("concerns", 5, decision_place=2),
        "concern folded into one that does not decide": change("concerns", folded_into="c3"),
        "concern challenged without a defense": change("concerns", 1, defense=""),
    },
}
CASES = {case: (spoil, rule) for rule, cases in RULES.items() for case, spoil in cases.items()}
WARNINGS = {
    "no_paper_after_the_cutoff_is_kept",
    "every_idea_asked_for_something",
    "only_compared_papers_are_compared",
    "means_are_means_of_their_comparisons",
    "percentages_sum_to_100",
}


def test_a_good_evaluation_breaks_no_rule() -> None:
    assert broken_rules(rows_of(make_evaluation())) == {}
    assert broken_rules(rows_of(make_full_evaluation())) == {}
    assert broken_rules(rows_of(make_assessed_evaluation())) == {}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_row_breaks_its_rule(case: str) -> None:
    spoil, rule = CASES[case]
    rows = rows_of(make_assessed_evaluation())
    spoil(rows)
    broken = broken_rules(rows, rule)
    assert broken.get(rule) is (Severity.WARNING if rule in WARNINGS else Severity.CRITICAL)


def test_every_statement_has_a_bad_row_that_breaks_it() -> None:
    assert set(names("run_checks")) <= RULES.keys()


def test_an_evaluation_that_ended_early_may_lack_comparisons() -> None:
    rows = rows_of(replace(make_evaluation(), incomplete_reason=Reason.BUDGET_EXHAUSTED))
    rows["comparisons"].clear()
    assert "comparisons_cover_every_paper_and_dimension" not in broken_rules(rows)


def test_without_a_cutoff_every_paper_may_be_cited() -> None:
    rows = rows_of(make_evaluation())
    rows["ideas"][0]["cutoff_date"] = None
    rows["papers"][0]["publication_date"] = date(2090, 1, 1)
    assert broken_rules(rows) == {}


def test_a_paper_known_by_its_year_may_be_cited_once_its_meeting_is_over() -> None:
    rows = rows_of(make_evaluation())
    rows["ideas"][0]["cutoff_date"] = date(2025, 8, 31)
    rows["papers"][0].update(publication_date=None, year=2025, venue="ICLR ", arxiv_id=None)
    assert broken_rules(rows) == {}
    rows["papers"][0]["arxiv_id"] = "2509.00001"
    assert "no_paper_after_the_cutoff_is_used" in " ".join(broken_rules(rows))


def test_papers_left_out_are_no_reason_for_a_missing_review() -> None:
    rows = rows_of(make_evaluation())
    rows["contribution_reviews"].clear()
    assert "every_idea_has_a_review_or_a_failure" not in broken_rules(rows)
    for row in rows["failures"]:
        row["stage"] = LEFT_OUT
    assert broken_rules(rows)["every_idea_has_a_review_or_a_failure"] is Severity.CRITICAL


def test_an_idea_outside_the_literature_needs_no_review_of_a_contribution() -> None:
    rows = rows_of(make_evaluation())
    for table in ("dimensions", "candidates", "comparisons", "contribution_reviews", "failures"):
        rows.pop(table, None)
    rows["ideas"][0]["field_covered"] = True
    assert broken_rules(rows)["every_idea_has_a_review_or_a_failure"] is Severity.CRITICAL
    rows["ideas"][0]["field_covered"] = False
    assert "every_idea_has_a_review_or_a_failure" not in broken_rules(rows)


def test_an_unscored_summary_is_reason_enough_for_no_review() -> None:
    rows = rows_of(make_evaluation())
    rows.pop("failures")
    rows["soundness_reviews"].clear()
    rows["soundness_summaries"][0]["unscored_reason"] = "nothing_to_judge"
    assert "every_idea_has_a_review_or_a_failure" not in broken_rules(rows)
