"""Stand-ins for the soundness module's surroundings: an engine, a literature and a library that
answer what a test tells them to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from schemas.base import Reply, replace
from schemas.failure import Answer, SourceFailure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.soundness import ConcernKind, ConcernSeverity, SoundnessEvaluation
from schemas.judgement.suggestion import ActionEffort
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.judging.findings import Findings
from tasks.judging.suggestions import ProposedSuggestion
from tasks.soundness.evaluate import evaluate_soundness
from tasks.soundness.steps.extract_methods import MethodsInput, MethodsReply, ProposedMethod
from tasks.soundness.steps.method_evidence import EvidenceInput, EvidenceReply, PaperReading
from tasks.soundness.steps.plan_review import (
    BearingsInput,
    BearingsReply,
    PlanInput,
    PlanReply,
    ProposedPoint,
    QuestionsInput,
    QuestionsReply,
)
from tasks.soundness.steps.soundness_query import MethodQuery, QueriesInput, QueriesReply
from tasks.soundness.steps.soundness_review import (
    ReviewInput,
    ReviewReply,
    SummaryInput,
    SummaryReply,
)
from tests.support.contribution_fakes import Delays
from tests.support.contribution_fakes import FakeEngine as TopicEngine

TIMED_OUT = SourceFailure(
    source="snapshot", endpoint="snippet/search", reason=Reason.TIMEOUT, detail="no answer in 60 s"
)
NOT_FOUND = SourceFailure(
    source="unpaywall", endpoint="v2", reason=Reason.NOT_FOUND, detail="no open copy is known"
)

PARAMETERS = SoundnessParameters(
    maximum_methods=6,
    query_word_limit=70,
    snippets_per_method=10,
    papers_per_method=4,
    papers_per_reading_call=2,
    include_passage_papers=True,
    section_word_limit=100,
)


def paper(number: int, **changes: Any) -> Paper:
    fields: dict[str, Any] = {
        "paper_id": PaperId(f"paper{number:02d}"),
        "title": f"Paper number {number}",
        "abstract": f"Abstract of paper {number}. It improves things.",
        "authors": (f"Ada Author{number}", "Bob Builder", "Cy Critic"),
        "year": 2010 + number,
        "publication_date": date(2010 + number, 6, 1),
        "url": f"https://example.org/{number}",
    }
    return Paper(**{**fields, **changes})


def passage(
    number: int, *, score: float, cites: Sequence[int] = (), paper_number: int | None = None
) -> Passage:
    return Passage(
        passage_id=f"s{number}",
        paper_id=PaperId(f"paper{number if paper_number is None else paper_number:02d}"),
        text=f"Passage {number}",
        kind="body",
        score=score,
        cited_paper_ids=tuple(PaperId(f"paper{each:02d}") for each in cites),
    )


def _methods(inputs: MethodsInput) -> Reply:
    return MethodsReply(
        methods=tuple(
            ProposedMethod(text=f"Method {name} of the idea.", quote=name)
            for name in ("alpha", "beta", "gamma")
        )
    )


def plan_point(**changes: Any) -> ProposedPoint:
    """A sound point about an idea that says `alpha`."""
    fields: dict[str, Any] = {
        "kind": ConcernKind.MISSING_BASELINE,
        "severity": ConcernSeverity.MAJOR,
        "point": "Alpha is held against nothing.",
        "omission": "A baseline for alpha among the methods.",
        "why": "A gain over nothing says little.",
        "would_change": "A named baseline with the same budget.",
        "action": "Add the plain variant of alpha with the same budget.",
        "effort": ActionEffort.DAYS,
    }
    return ProposedPoint(**{**fields, **changes})


def _plan_review(inputs: PlanInput) -> Reply:
    return PlanReply(points=(plan_point(),))


def _plan_questions(inputs: QuestionsInput) -> Reply:
    return QuestionsReply(questions=())


def _concern_evidence(inputs: BearingsInput) -> Reply:
    return BearingsReply(bearings=())


def queries_for(
    inputs: QueriesInput,
    queries: Callable[[str], str] = lambda method: f"query {method.split()[1]}",
) -> Reply:
    """A query for every method shown."""
    answers = (
        MethodQuery(method=number, queries=(queries(method),))
        for number, method in enumerate(inputs.methods, start=1)
    )
    return QueriesReply(queries=tuple(answers))


def _evidence(inputs: EvidenceInput) -> Reply:
    readings = [
        PaperReading(
            key=shown.key,
            relevance=3,
            method=f"{shown.title} did this.",
            results=f"{shown.title} improved it by 3%.",
            context="Mice.",
        )
        for shown in inputs.papers
    ]
    return EvidenceReply(papers=tuple(readings))


def _review(inputs: ReviewInput) -> Reply:
    first, last = inputs.evidence[0].key, inputs.evidence[-1].key
    return ReviewReply(
        support=f"It worked elsewhere with good results [{first}].",
        contradictions=f"It failed once under load [{last}].",
        suggestions=(
            ProposedSuggestion(
                change="Use the safer variant.",
                because=f"Both tried it [{first}][{last}].",
                how="On the plan's own data, five seeds.",
                effort=ActionEffort.DAYS,
                deciding_outcome="No loss within one standard error.",
            ),
        ),
        score=7,
    )


def _summary(inputs: SummaryInput) -> Reply:
    support = [f"Method {review.rank}: {review.support}" for review in inputs.reviews]
    return SummaryReply(
        strengths=tuple(support[:3]), weaknesses=("One weakness without a source.",), suggestions=()
    )


ANSWERS: dict[str, Callable[[Any], Reply]] = {
    "extract_methods": _methods,
    "plan_review": _plan_review,
    "plan_questions": _plan_questions,
    "concern_evidence": _concern_evidence,
    "soundness_query": queries_for,
    "method_evidence": _evidence,
    "soundness_review": _review,
    "soundness_summary": _summary,
}


class FakeEngine(TopicEngine):
    """Answers as `ANSWERS` say where a test says nothing else."""

    def __init__(
        self,
        answers: dict[str, Callable[[Any], Reply | Reason]] | None = None,
        delays: Delays | None = None,
        name: str = "litellm:fake",
    ) -> None:
        super().__init__(None, {**ANSWERS, **(answers or {})}, delays, name)


class BaselineEngine(TopicEngine):
    """The extractive engine in its barest form."""

    def __init__(self) -> None:
        super().__init__(None, {}, name="extractive")


@dataclass
class FakeLiterature:
    """Finds `passages[query]` and `fetched`; `failing` names the endpoints that fail.

    It does not filter by date: the module must.
    """

    passages: dict[str, Sequence[Passage]] = field(default_factory=dict)
    fetched: Sequence[Paper] = ()
    failing: frozenset[str] = frozenset()
    delays: Delays = field(default_factory=Delays)
    looked_up: list[PaperId] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    unlimited: bool = False

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        self.searched.append(query)
        await self.delays.wait()
        if "snippets" in self.failing:
            return Answer((), (TIMED_OUT,))
        return Answer(tuple(self.passages.get(query, ()))[:limit])

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        self.looked_up.extend(paper_ids)
        await self.delays.wait()
        if "papers" in self.failing:
            return Answer((), (TIMED_OUT,))
        wanted = set(paper_ids)
        return Answer(
            tuple(
                each
                for each in self.fetched
                if each.paper_id in wanted or f"CorpusId:{each.corpus_id}" in wanted
            )
        )


@dataclass
class FakeDocuments:
    """Abstracts of all papers, `full_text` of some; papers in `closed` have neither, and a failure
    says so.
    """

    full_text: dict[str, str] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    delays: Delays = field(default_factory=Delays)
    asked: list[PaperId] = field(default_factory=list)

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        self.asked.extend(each.paper_id for each in papers)
        await self.delays.wait()
        sections: list[PaperSection] = []
        failures: list[SourceFailure] = []
        for each in papers:
            if each.paper_id in self.closed:
                failures.append(NOT_FOUND)
                continue
            if text := self.full_text.get(each.paper_id):
                sections.append(_section(each, SectionKind.METHODS, "2 Methods", text, "grobid"))
            if each.abstract:
                sections.append(
                    _section(each, SectionKind.ABSTRACT, "Abstract", each.abstract, "metadata")
                )
        return Answer(tuple(sections), tuple(failures))


def _section(owner: Paper, kind: SectionKind, heading: str, text: str, source: str) -> PaperSection:
    return PaperSection(
        paper_id=owner.paper_id, section=kind, heading=heading, text=text, text_source=source
    )


async def evaluate(
    idea: Idea,
    literature: FakeLiterature,
    answers: dict[str, Any] | None = None,
    *,
    engine: TopicEngine | None = None,
    documents: FakeDocuments | None = None,
    results: tuple[Any, ...] = (),
    **parameters: object,
) -> Findings[SoundnessEvaluation]:
    """Soundness of `idea` by stand-ins; `parameters` differ from `PARAMETERS`."""
    return await evaluate_soundness(
        idea,
        replace(PARAMETERS, **parameters),
        engine or FakeEngine(answers),
        literature,  # type: ignore[arg-type]
        documents or FakeDocuments(),  # type: ignore[arg-type]
        results,
    )
