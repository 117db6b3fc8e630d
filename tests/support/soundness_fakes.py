"""Stand-ins for the soundness module's surroundings: an engine, a literature and a library that
answer what a test tells them to.
"""

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from schemas.base import Noun, Reply
from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.judgement.soundness import ConcernKind, ConcernSeverity
from schemas.judgement.suggestion import ActionEffort
from schemas.literature.paper import CitationEdge, Paper, PaperSection, Passage, SectionKind
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.judging.suggestions import ProposedSuggestion
from tasks.soundness.steps.extract_methods import MethodsInput, MethodsReply, ProposedMethod
from tasks.soundness.steps.method_evidence import EvidenceInput, EvidenceReply, PaperReading
from tasks.soundness.steps.plan_review import PlanInput, PlanReply, ProposedPoint
from tasks.soundness.steps.soundness_query import MethodQuery, QueriesInput, QueriesReply
from tasks.soundness.steps.soundness_review import ReviewInput, ReviewReply
from tasks.soundness.steps.soundness_summary import SummaryInput, SummaryReply

CREATED_AT = datetime(2026, 3, 1, tzinfo=UTC)
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


@dataclass
class Latency:
    """Gives way to other work a random number of times, so that tests can shuffle who answers first
    without sleeping.
    """

    seed: int | None = None

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    async def pass_by(self) -> None:
        for _ in range(0 if self.seed is None else self._random.randrange(12)):
            await asyncio.sleep(0)


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
    "soundness_query": queries_for,
    "method_evidence": _evidence,
    "soundness_review": _review,
    "soundness_summary": _summary,
}


@dataclass
class FakeEngine:
    """Answers with `answers[step]`, a function of the input that returns a reply or a reason for
    having none.
    """

    answers: dict[str, Callable[[Any], Reply | Reason]] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    asked: list[tuple[str, Noun]] = field(default_factory=list)
    name: str = "litellm:fake"

    async def run(self, step: Step[Any, Any], inputs: Noun) -> Outcome[Any]:
        step.messages(inputs)
        self.asked.append((step.name, inputs))
        await self.latency.pass_by()
        reply = {**ANSWERS, **self.answers}[step.name](inputs)
        provenance = provenance_of(step, self.name)
        return (
            Unscored(reply, f"{step.name} gave nothing", provenance)
            if isinstance(reply, Reason)
            else Scored(reply, provenance)
        )

    def inputs_of(self, step: str) -> list[Any]:
        return [inputs for name, inputs in self.asked if name == step]


class BaselineEngine:
    """The extractive engine in its barest form."""

    name = "extractive"

    async def run(self, step: Step[Any, Any], inputs: Noun) -> Outcome[Any]:
        reply = await step.baseline(inputs, BaselineTools(embedder=None))  # type: ignore[arg-type]
        provenance = provenance_of(step, self.name)
        return (
            Unscored(reply.reason, reply.detail, provenance)
            if isinstance(reply, NoAnswer)
            else Scored(reply, provenance)
        )


def provenance_of(step: Step[Any, Any], engine: str) -> Provenance:
    return Provenance(
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        engine=engine,
        model_requested=engine,
        model_answered=engine,
        seed=7,
        created_at=CREATED_AT,
        call_ids=(f"call-{step.name}",),
    )


@dataclass
class FakeLiterature:
    """Finds `passages[query]` and `fetched`; `failing` names the endpoints that fail.

    It does not filter by date: the module must.
    """

    passages: dict[str, Sequence[Passage]] = field(default_factory=dict)
    fetched: Sequence[Paper] = ()
    failing: frozenset[str] = frozenset()
    latency: Latency = field(default_factory=Latency)
    looked_up: list[PaperId] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    unlimited: bool = False

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        self.searched.append(query)
        await self.latency.pass_by()
        if "snippets" in self.failing:
            return Answer((), (TIMED_OUT,))
        return Answer(tuple(self.passages.get(query, ()))[:limit])

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        self.looked_up.extend(paper_ids)
        await self.latency.pass_by()
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

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        raise AssertionError("soundness searches passages, not papers")

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        raise AssertionError("soundness searches passages, not papers")

    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        raise AssertionError("soundness asks for no recommendations")

    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        raise AssertionError("soundness asks for no recommendations")

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        raise AssertionError("soundness asks for no references")

    async def citations(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        raise AssertionError("soundness asks for no citations")


@dataclass
class FakeDocuments:
    """Abstracts of all papers, `full_text` of some; papers in `closed` have neither, and a failure
    says so.
    """

    full_text: dict[str, str] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    latency: Latency = field(default_factory=Latency)
    asked: list[PaperId] = field(default_factory=list)

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        self.asked.extend(each.paper_id for each in papers)
        await self.latency.pass_by()
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


class WordLiterature(FakeLiterature):
    """Searches the abstracts of `fetched` by shared words: enough of a search to judge real ideas
    with.
    """

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        asked = set(re.findall(r"\w{4,}", query.lower()))
        scored = [
            (len(asked & set(re.findall(r"\w{4,}", f"{each.title} {each.abstract}".lower()))), each)
            for each in self.fetched
        ]
        best = sorted(
            (pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], pair[1].paper_id)
        )[:limit]
        return Answer(
            tuple(
                Passage(
                    passage_id=each.paper_id,
                    paper_id=each.paper_id,
                    text=each.abstract or "",
                    kind="abstract",
                    score=float(score),
                )
                for score, each in best
            )
        )
