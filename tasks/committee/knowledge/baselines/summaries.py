"""Baseline of `summarise_pages`: the sentences of a page nearest to the idea, in the page's order."""

from schemas.reasons import Reason
from tasks.committee.knowledge.answers import PageSummary, SummariesAnswer
from tasks.committee.knowledge.questions import PageShown, SummariesQuestion
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.words import rank_sentences, sentences

SUMMARY_SENTENCES = 6
PASSAGES = 3
SENTENCES_READ = 200
SHORTEST_WORDS = 6


async def baseline_summaries(question: SummariesQuestion, tools: BaselineTools) -> SummariesAnswer | NoAnswer:
    """Each page by itself; one without whole sentences gets no entry."""
    del tools
    pages = [summary for page in question.pages if (summary := _summary(page, question.idea))]
    return SummariesAnswer(pages=pages) if pages else NoAnswer(Reason.NO_EVIDENCE, "the pages hold no whole sentences")


def _summary(page: PageShown, idea: str) -> PageSummary | None:
    found = [sentence for sentence in dict.fromkeys(sentences(page.text)) if len(sentence.split()) >= SHORTEST_WORDS][:SENTENCES_READ]
    if not found:
        return None
    best = [sentence for _, sentence in rank_sentences(idea, found, SUMMARY_SENTENCES)]
    return PageSummary(key=page.key, summary=" ".join(sentence for sentence in found if sentence in best), passages=best[:PASSAGES])
