"""Table of a program officer's questions, and retracted works."""

from collections.abc import Iterator

from dashboards.render import page as pg
from dashboards.render import wording
from dashboards.render.prose import prose_line
from dashboards.views.idea.idea_page import IdeaPage
from schemas.identifiers import PaperId
from schemas.reasons import Reason

_NOTE = (
    "Each answer rests on the words beside it, and none is part of a score. Missing means that the"
    " plan does not say it."
)
_COULD_NOT_TELL = (Reason.OFFLINE_ENGINE, Reason.NO_EVIDENCE)


def officer_blocks(page: IdeaPage) -> Iterator[pg.Block]:
    """Yield the answers and retracted works; nothing if the questions were not asked."""
    soundness = page.evaluation.soundness
    if soundness is None or not soundness.officer_answers:
        return
    yield from (pg.heading("What a program officer asks"), pg.text(pg.emphasis(_NOTE)))
    rows = []
    for row in soundness.officer_answers:
        status: str = row.status or ""
        if row.unscored_reason is not None:
            unscored = wording.unscored_because(row.unscored_reason)
            status = "could not tell" if row.unscored_reason in _COULD_NOT_TELL else unscored
        quotes = " against ".join(f"“{each}”" for each in (row.quote, row.paper_quote) if each)
        words = pg.line(quotes, " " if quotes else "", prose_line(row.calculation))
        paper = page.paper_link(row.paper_id) if row.paper_id is not None else ""
        rows.append((row.question.replace("_", " "), status, words, paper))
    yield pg.table(("Question", "Status", "Words", "Paper"), rows)
    for failure in page.evaluation.failures:
        if failure.reason is Reason.RETRACTED:
            citing_id = PaperId(failure.subject)
            is_paper = citing_id in page.papers
            source = (" (", page.paper_link(citing_id), ")") if is_paper else ()
            yield pg.text(pg.strong("Retracted:"), f" {failure.detail}", *source, ".")
