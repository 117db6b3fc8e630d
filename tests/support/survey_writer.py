"""A model that writes a survey's review from what it is shown, and the lies it is told to add."""

import re
from dataclasses import dataclass, field
from typing import Any

from tests.support.openai_server import Messages
from tests.support.schema_answers import Schema, answer_from_schema

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
