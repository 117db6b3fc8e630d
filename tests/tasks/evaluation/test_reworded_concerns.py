"""Citations of a plan's review once the assessment reworded some of its concerns."""

from schemas.judgement.soundness import ConcernSeverity
from schemas.literature.citation import Citation
from tasks.citations.references import reference
from tasks.evaluation.evaluate_idea import _still_cited
from tasks.judging.findings import Findings
from tests.support.evaluations import make_evaluation
from tests.support.reviewed_ideas import make_concern


def test_citations_of_reworded_concerns_go_and_the_others_are_counted_again() -> None:
    evaluation = make_evaluation(1)
    assert evaluation.soundness is not None
    first, second = evaluation.papers[:2]

    def row(number: int, subject: str, count: int) -> Citation:
        return Citation(
            paper_id=evaluation.papers[number].paper_id,
            citation_key=f"P{number + 1}",
            module="soundness",
            subject=subject,
            field="suggestions",
            count=count,
        )

    of_method = row(1, "m1", 1)
    findings = Findings(
        evaluation=evaluation.soundness,
        papers=(first, second),
        citations=(row(0, "plan", 2), row(1, "plan", 1), of_method),
    )
    reworded = make_concern(1, action="Add a control group.", decision_place=1)
    kept = make_concern(
        2, ConcernSeverity.MINOR, action=f"Count the animals as {reference(first)} does."
    )
    cited = _still_cited(findings, (reworded, kept))
    assert cited == (row(0, "plan", 1), of_method)
