"""Papers admitted as evidence: published before the cutoff, not retracted or withdrawn."""

from collections.abc import Iterable
from datetime import date

from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.paper_state import PaperState, gravest, title_of_notice, unmarked_title
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.literature.versions import Works
from tasks.text.titles import LEAST_TITLE_WORDS, plain_title


class Admission:
    """Admit papers as evidence and count the excluded ones in the ledger.

    With `with_retracted`, retracted or withdrawn works are admitted too, for callers that show
    their state.
    """

    def __init__(self, ledger: Ledger, *, with_retracted: bool = False) -> None:
        self._ledger = ledger
        self._with_retracted = with_retracted

    def admits_state(self, paper: Paper) -> bool:
        return paper.state is None or self._with_retracted

    def admit(self, papers: Iterable[Paper], cutoff: date | None) -> list[Paper]:
        """Return the papers admitted as evidence, in their order."""
        evidence = []
        exclusions: dict[Reason, list[Paper]] = {}
        for paper in with_notices(papers):
            if not self.admits_state(paper):
                exclusions.setdefault(Reason.RETRACTED, []).append(paper)
            elif paper.admissible(cutoff):
                evidence.append(paper)
            else:
                is_undated = paper.latest_publication_date is None
                reason = Reason.NO_DATE if is_undated else Reason.AFTER_CUTOFF
                exclusions.setdefault(reason, []).append(paper)
        for paper in exclusions.get(Reason.RETRACTED, ()):
            for name in (paper.paper_id, f"CorpusId:{paper.corpus_id}"):
                self._ledger.retracted[name] = paper.title
        for reason, excluded_papers in exclusions.items():
            titles = {str(paper.paper_id): paper.title for paper in excluded_papers}
            self._ledger.leave_out(reason, titles, cutoff)
        return evidence


def with_notices(papers: Iterable[Paper]) -> list[Paper]:
    """Return the papers, marked by notices and other versions among them."""
    records = list(papers)
    if all(paper.state is None for paper in records):
        return records
    notices = [
        (paper.state or PaperState.RETRACTED, plain_title(title).split())
        for paper in records
        if (title := title_of_notice(paper.title))
    ]
    records = [_apply_notices(paper, notices) for paper in records]
    works = Works(replace(paper, title=unmarked_title(paper.title)) for paper in records)
    states: dict[PaperId, PaperState] = {}
    for paper in records:
        if paper.state is not None:
            first = works.first_of(paper)
            states[first] = gravest((paper.state, states.get(first, paper.state)))
    return [
        replace(paper, state=states[first])
        if paper.state is None and (first := works.first_of(paper)) in states
        else paper
        for paper in records
    ]


def _apply_notices(paper: Paper, notices: list[tuple[PaperState, list[str]]]) -> Paper:
    words = plain_title(unmarked_title(paper.title)).split()
    if paper.state is not None or len(words) < LEAST_TITLE_WORDS:
        return paper
    states = [state for state, notice_title in notices if _names_title(notice_title, words)]
    return replace(paper, state=gravest(states)) if states else paper


def _names_title(notice: list[str], title: list[str]) -> bool:
    """Return whether a notice names this title, optionally with journal, volume and pages."""
    rest = notice[len(title) :]
    return notice[: len(title)] == title and (not rest or any(map(str.isdecimal, rest)))
