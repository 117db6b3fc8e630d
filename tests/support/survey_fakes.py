"""A citation graph in memory in place of the gateway, judges that know the answers, a model that writes
surveys, and questions surveyed with them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from schemas.failure import Answer, SourceFailure
from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import Survey, SurveyParameters
from schemas.reasons import Reason
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from schemas.works.survey_run import SurveyQuestion
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.documents.document import AbstractLibrary
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine
from tasks.judging.relevance import Judgement, Judgements
from tasks.survey.expanding import Judge
from tasks.survey.survey import survey
from tests.support.contribution_fakes import WordEmbedder
from tests.support.openai_server import Messages, OpenAIServer
from tests.support.schema_answers import Schema, answer_from_schema


def paper(name: str, year: int = 2010, **fields: Any) -> Paper:
    return Paper(
        paper_id=PaperId(name), title=f"On {name}", abstract=f"About {name}.", year=year, **fields
    )


def failed(endpoint: str, reason: Reason = Reason.SERVER_ERROR) -> SourceFailure:
    return SourceFailure(
        source="semantic_scholar", endpoint=endpoint, reason=reason, detail="503 five times"
    )


def edge(endpoint: str, seed: PaperId, other: PaperId) -> CitationEdge:
    citing, cited = (seed, other) if endpoint == "references" else (other, seed)
    return CitationEdge(citing_paper_id=citing, cited_paper_id=cited)


class GraphLiterature:
    """Papers by name, what each cites, and what each query finds; `dead` endpoints answer nothing.

    The source itself does not look at dates: whatever keeps to the cutoff is the asker.
    """

    unlimited = True

    def __init__(
        self,
        papers: Iterable[Paper],
        cites: Mapping[str, Sequence[str]],
        found: Mapping[str, Sequence[str]],
        dead: Mapping[str, SourceFailure] | None = None,
    ) -> None:
        self.papers_by_id = {paper.paper_id: paper for paper in papers}
        self.cites, self.found, self.dead = cites, found, dead or {}
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def _answer(
        self, endpoint: str, names: Iterable[str], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        if endpoint in self.dead:
            return Answer((), (self.dead[endpoint],))
        papers = [self.papers_by_id[PaperId(name)] for name in names]
        good = [each for each in papers if each.admissible(cutoff)]
        return Answer(tuple(good[:limit]), (), len(papers) - len(good))

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        self.asked.append(("search", (query,)))
        return self._answer("search", self.found.get(query, ()), limit, cutoff)

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        self.asked.append(("bulk", tuple(queries)))
        return self._answer("bulk", (), 1_000, cutoff)

    async def references(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.asked.append(("references", tuple(seeds)))
        return self._pairs("references", seeds, self.cites, limit, cutoff)

    async def citations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.asked.append(("citations", tuple(seeds)))
        citing = {
            seed: [name for name, cited in self.cites.items() if seed in cited] for seed in seeds
        }
        return self._pairs("citations", seeds, citing, limit, cutoff)

    def _pairs(
        self,
        endpoint: str,
        seeds: Sequence[PaperId],
        neighbours: Mapping[str, Sequence[str]],
        limit: int,
        cutoff: date | None,
    ) -> Answer[tuple[CitationEdge, Paper]]:
        answers = {
            seed: self._answer(endpoint, neighbours.get(seed, ()), limit, cutoff) for seed in seeds
        }
        return Answer(
            tuple(
                (edge(endpoint, seed, each.paper_id), each)
                for seed, answer in answers.items()
                for each in answer.items
            ),
            (self.dead[endpoint],) if endpoint in self.dead and seeds else (),
            sum(answer.inadmissible_count for answer in answers.values()),
        )


def judge_by(relevant: Iterable[str]) -> Judge:
    """4 for the relevant ones, 1 for all others."""
    names = set(relevant)

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return Judgements(
            {each.paper_id: Judgement(4 if each.paper_id in names else 1) for each in papers}
        )

    return judge


_WORK = re.compile(r"^Paper (P\d+)(?: \(\d+\))?:\n<(\w+)>\n(.*?)\n</\2>", re.MULTILINE | re.DOTALL)
_ABSTRACT = re.compile(
    r"^Paper (P\d+):\n.*?<abstract>\n(.*?)\n</abstract>", re.MULTILINE | re.DOTALL
)
_CLUSTER = re.compile(r"^Cluster (c\d+):", re.MULTILINE)
_CLAIM = re.compile(r"^Claim (\d+):\n<claim>\n(.*?)\n</claim>", re.MULTILINE | re.DOTALL)
LIE = "Bats are fish of the deep sea"
"""Stands in no work: the check of citations says so."""


@dataclass
class Writer:
    """Answers by the schema it is asked for.

    Attributes:
        section, summary: beside what it writes truly.
        reading: instead of the true passages, by key.
        outline: instead of the true outline.
        answer: instead of the true answer; not_found: parts of the question without one.
        unchecked: the check gives no verdict on sentences with these words.
    """

    section: str = ""
    summary: str = ""
    contradictions: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    reading: dict[str, Any] | None = None
    outline: dict[str, Any] | None = None
    unchecked: str = "nothing is"
    answer: str | None = None
    not_found: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)

    def __call__(self, messages: Messages, schema: Schema | None) -> Any:
        wanted = set((schema or {}).get("properties", {}))
        data = messages[-1]["content"]
        for fields, answer in self._answers.items():
            if set(fields) == wanted and (made := answer(data, schema)) is not None:
                return made
        return answer_from_schema(messages, schema or {})

    @property
    def _answers(self) -> dict[tuple[str, ...], Any]:
        return {
            ("sub_questions",): self._plan,
            ("papers",): self._papers,
            ("clusters", "sections"): self._outline,
            ("section",): self._section,
            ("summary", "contradictions", "gaps"): self._synthesis,
            ("answer", "not_found"): self._answer,
            ("claims",): self._verdicts,
        }

    def _plan(self, _data: str, _schema: Schema | None) -> dict[str, Any]:
        self.asked.append("plan")
        return {"sub_questions": [{"sub_question": "How?", "queries": ["bat calls"]}]}

    def _papers(self, data: str, schema: Schema | None) -> dict[str, Any] | None:
        if "passages" not in str(schema):
            keys = re.findall(r"^Paper (P\d+):", data, re.MULTILINE)
            return {"papers": [{"key": key, "rationale": "near", "score": 5} for key in keys]}
        self.asked.append("reading")
        if self.reading is not None:
            return self.reading
        return {
            "papers": [
                {"key": key, "passages": [{"aspect": "result", "quote": text.split(". ")[0]}]}
                for key, text in _ABSTRACT.findall(data)
            ]
        }

    def _outline(self, data: str, _schema: Schema | None) -> dict[str, Any]:
        self.asked.append("outline")
        if self.outline is not None:
            return self.outline
        keys = [key for key, _, _ in _WORK.findall(data)]
        clusters = [{"cluster": name, "name": f"Named {name}"} for name in _CLUSTER.findall(data)]
        return {
            "clusters": clusters,
            "sections": [{"heading": "How bats hunt", "about": "Calls.", "keys": keys}],
        }

    def _section(self, data: str, _schema: Schema | None) -> dict[str, Any]:
        self.asked.append("section")
        return {"section": f"{_true_text(data)} {self.section}".strip()}

    def _synthesis(self, data: str, _schema: Schema | None) -> dict[str, Any]:
        self.asked.append("synthesis")
        return {
            "summary": f"{_true_text(data)} {self.summary}".strip(),
            "contradictions": list(self.contradictions),
            "gaps": list(self.gaps),
        }

    def _answer(self, data: str, _schema: Schema | None) -> dict[str, Any]:
        self.asked.append("answer")
        text = _true_text(data) if self.answer is None else self.answer
        return {"answer": text, "not_found": list(self.not_found)}

    def _verdicts(self, data: str, _schema: Schema | None) -> dict[str, Any]:
        self.asked.append("check")
        return {
            "claims": [
                {"claim": int(number), "verdict": "not" if LIE in claim else "supported"}
                for number, claim in _CLAIM.findall(data)
                if self.unchecked not in claim
            ]
        }


def _true_text(data: str) -> str:
    """A sentence for each work shown, in the words of its evidence."""
    told = [
        (key, text.splitlines()[1].partition(": ")[2] or text)
        for key, _, text in _WORK.findall(data)
    ]
    return " ".join(f"{said.rstrip('.')} [{key}]." for key, said in told)


QUESTION = "How do bats hunt moths by echo calls?"
ABSTRACTS = {
    "a": "Bats hunt moths by loud echo calls at night. The recorder is cheap.",
    "b": "Moths hear the echo calls of bats and dive away. Forty moths were filmed.",
    "c": "Faint echo calls let bats come near to moths unheard. Others disagree.",
}


def papers() -> list[Paper]:
    return [
        Paper(
            paper_id=PaperId(name),
            title=f"Bats and moths at night, part {name}",
            abstract=text,
            authors=(f"Ada {name.upper()}arden",),
            year=2010,
            url=f"https://example.org/{name}",
        )
        for name, text in ABSTRACTS.items()
    ]


async def surveyed(server: OpenAIServer, folder: Path, writer: Writer, **bounds: Any) -> Survey:
    server.behaviour, server.answer = "good", writer
    budget = SharedBudget(folder / "budget.sqlite", RunId("r1"), Budget())
    settings = LanguageModelSettings(context_tokens=100_000)
    ledger = Ledger(IdeaId("q001"))
    backend = LiteLLMBackend("openai/loopback", settings, budget=budget, api_base=server.url)
    return await survey(
        SurveyQuestion(question_id="q001", question=QUESTION),
        SurveyParameters(depth=0, **bounds),
        date(2020, 12, 31),
        engine=LiteLLMEngine(backend, ledger),
        literature=GraphLiterature(papers(), {}, {"bat calls": list(ABSTRACTS)}),
        embedder=WordEmbedder(),
        ledger=ledger,
        documents=AbstractLibrary(),
    )
