"""A model on loopback that reads: OpenAI-shaped, deterministic, and the same about a paper whatever
else a call asks.

Relevance is the rank a text would have among all papers by the cosine of weighted words with the
idea (TF-IDF over the whole literature, sublinear, stop words out), moved up or down by up to 15 %
by a hash of idea and paper, as judges differ. It knows no embeddings, so that choosing papers by
embedding does not already agree with it. The 30 nearest of all papers are a 5, the next a 4, and so
on; ScholarEval's measured runs found 38 % of the papers relevant.

Replies are as long as the prompt allows (nine tenths of "at most N words"), else as long as
ScholarEval's released code was measured to be answered. Usage is characters / 4; the longest
beginning that an earlier finished call shared, from 1,024 tokens on, counts as cached, as providers
do it.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from tasks.assessment.steps import STEPS as ASSESSMENT_STEPS
from tasks.contribution.steps import STEPS as CONTRIBUTION_STEPS
from tasks.judging.steps import STEPS as SHARED_STEPS
from tasks.soundness.steps import STEPS as SOUNDNESS_STEPS
from tests.support.openai_server import Messages, OpenAIServer
from tests.support.schema_answers import Schema, answer_from_schema

LOWEST_RANKS = {5: 30, 4: 200, 3: 1_500, 2: 6_000, 1: 20_000}
"""Score → the rank among all papers down to which it is given."""

CACHED_FROM_CHARACTERS = 4 * 1_024
_DISAGREEMENT = 0.15
_LIMIT = re.compile(r"at most (\d+) words", re.IGNORECASE)
_IDEA = re.compile(r"<idea>\n(.*?)\n</idea>", re.DOTALL)
_METHOD = re.compile(r"<method>\n(.*?)\n</method>", re.DOTALL)
_STATEMENT = re.compile(
    r"^Statement (\d+):\n<statement>\n(.*?)\n</statement>", re.DOTALL | re.MULTILINE
)
_CONCERN = re.compile(r"^Concern (C\d+)[,:]", re.MULTILINE)
_CRITERION = re.compile(r"^- `(\w+)`:", re.MULTILINE)
_DIMENSION = re.compile(r"^Dimension (\S+):", re.MULTILINE)
_PAPER = re.compile(r"^Paper (P\d+)[^\n]*\n(.*?)(?=^Paper P\d+|\Z)", re.DOTALL | re.MULTILINE)
_CLAIM = re.compile(r"^Claim (\d+):\n<claim>\n(.*?)\n</claim>", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"</?[a-z_]+>")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def number_of(*parts: str) -> int:
    """The same number for the same texts, on every machine."""
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:4])


class Judge:
    """Similarity of a text to an idea, as a score from 0 to 5."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._vectorizer = TfidfVectorizer(
            stop_words="english", sublinear_tf=True, min_df=2, max_df=0.2, dtype=np.float32
        )
        self._papers = self._vectorizer.fit_transform(texts)
        self._ideas: dict[str, tuple[Any, dict[int, float]]] = {}

    def score(self, idea: str, text: str) -> int:
        vector, floors = self._idea(idea)
        cosine = float((self._vectorizer.transform([text]) @ vector.T).toarray()[0, 0])
        title = text.strip().splitlines()[0]
        moved = cosine * (1 + _DISAGREEMENT * (2 * (number_of(idea, title) % 1000) / 999 - 1))
        return next((score for score, floor in floors.items() if moved >= floor), 0)

    def telling(self, idea: str, text: str) -> list[str]:
        """The words of `text`, those that are rare elsewhere and frequent in the idea first, as an
        expert would choose them.
        """
        words = dict.fromkeys(re.findall(r"[a-z][a-z-]+[a-z]", text.lower()))
        known = self._vectorizer.vocabulary_
        vector, _ = self._idea(idea)
        worth = {word: float(vector[0, known[word]]) for word in words if word in known}
        return sorted((word for word in worth if worth[word] > 0), key=lambda word: -worth[word])

    def _idea(self, idea: str) -> tuple[Any, dict[int, float]]:
        if idea not in self._ideas:
            vector = self._vectorizer.transform([idea])
            cosines = np.sort((self._papers @ vector.T).toarray()[:, 0])[::-1]
            floors = {
                score: float(cosines[min(rank, len(cosines)) - 1])
                for score, rank in LOWEST_RANKS.items()
            }
            self._ideas[idea] = (
                vector,
                {score: max(floor, 1e-6) for score, floor in floors.items()},
            )
        return self._ideas[idea]


class JudgeOfThePlan:
    """A judge that finds the share of papers relevant that plans expect, whatever they say."""

    def score(self, idea: str, text: str) -> int:
        return (
            3 + number_of(idea, text[:80]) % 3
            if number_of(text[:80]) % 100 < 38
            else number_of(text[:80]) % 3
        )

    def telling(self, idea: str, text: str) -> list[str]:
        words = [
            word for word in dict.fromkeys(re.findall(r"[a-z]+", text.lower())) if len(word) > 4
        ]
        return sorted(words, key=lambda word: number_of(text, word))


@dataclass
class Reader:
    """Answers every step of the default modules, and any other question by its schema alone. `scores`
    keeps what was found of papers, as (step, score).
    """

    judge: Judge | JudgeOfThePlan
    scores: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._steps = {
            step.template.splitlines()[0]: step.name
            for step in (
                *SOUNDNESS_STEPS,
                *CONTRIBUTION_STEPS,
                *ASSESSMENT_STEPS,
                *SHARED_STEPS,
            )
        }

    def answer(self, messages: Messages, schema: Schema | None) -> str:
        name = self._steps.get(messages[0]["content"].splitlines()[0])
        if name is None:
            return json.dumps(answer_from_schema(messages, schema)) if schema else "OK"
        asked = _Asked.of(messages)
        reply = getattr(self, f"_{name}")(asked)
        return json.dumps(reply, ensure_ascii=False)

    def _scored(self, step: str, asked: "_Asked", text: str) -> int:
        score = self.judge.score(asked.idea, text)
        self.scores.append((step, score))
        return score

    def _extract_methods(self, asked: "_Asked") -> Any:
        sentences = asked.sentences[len(asked.sentences) // 4 :]
        chosen = _spread(sentences, 5 + number_of(asked.idea, "methods") % 4)
        return {
            "methods": [
                {"text": asked.prose(40, place, start=each), "quote": each[:100]}
                for place, each in enumerate(chosen)
            ],
            "elements": [
                {
                    "kind": ("assumption", "hypothesis", "evaluation_choice")[place % 3],
                    "standing": ("unstated", "stated")[place % 2],
                    "text": asked.prose(20, place),
                    "quote": asked.sentences[place % len(asked.sentences)][:100] * (place % 2),
                }
                for place in range(10)
            ],
        }

    def _plan_review(self, asked: "_Asked") -> Any:
        points = int(re.findall(r"Give (?:at most )?(\d+) points", asked.user)[-1])
        words = asked.limit(90) // 4
        texts = ("point", "why", "would_change", "action")
        return {
            "points": [
                {
                    "kind": "strength" if place % 4 == 3 else "missing_baseline",
                    "severity": None if place % 4 == 3 else ("fatal", "major", "minor")[place % 3],
                    "quote": " ".join(asked.sentences[place % len(asked.sentences)].split()[:14]),
                    "omission": "",
                    **{name: asked.prose(words, place + 7 * n) for n, name in enumerate(texts)},
                    "effort": "days",
                }
                for place in range(points)
            ]
        }

    def _plan_questions(self, asked: "_Asked") -> Any:
        return {"questions": []}

    def _officer_review(self, asked: "_Asked") -> Any:
        """Half are stated, half are missing."""
        return {
            "answers": [
                {
                    "question": name,
                    "status": ("stated", "missing")[place % 2],
                    "quote": " ".join(asked.sentences[place].split()[:20]) * (1 - place % 2),
                    "paper": "",
                    "paper_quote": "",
                }
                for place, name in enumerate(_CRITERION.findall(asked.system)[:8])
            ]
        }

    def _concern_evidence(self, asked: "_Asked") -> Any:
        keys = re.findall(r"\[(P\d+)\]", asked.user) or ["P1"]
        finding = (
            "The studies of this method report the same outcome under conditions that are like"
            " those of the plan and unlike those that it excludes"
        )
        return {
            "bearings": [
                {
                    "concern": key,
                    "bearing": ("supports", "weakens")[place % 2],
                    "reason": f"{finding} [{keys[place % len(keys)]}].",
                }
                for place, key in enumerate(asked.concerns[:6])
            ]
        }

    def _soundness_query(self, asked: "_Asked") -> Any:
        count = int(re.findall(r"Queries for each method: (\d+)", asked.user)[-1])
        limit = min(int(re.findall(r"in at most (\d+) words", asked.user)[-1]), 25)
        return {
            "queries": [
                {
                    "method": number,
                    "queries": [
                        " ".join(re.findall(r"[\w-]+", method)[3 * place :][:limit])
                        for place in range(count)
                    ],
                    "failure_query": " ".join([*re.findall(r"[\w-]+", method)[:4], "fails"]),
                }
                for number, method in enumerate(asked.methods, start=1)
            ]
        }

    def _method_evidence(self, asked: "_Asked") -> Any:
        words = asked.limit(100)
        numbers = {"numbers_quote": "", "sample_size": None, "effect": None, "spread": None}
        readings = []
        for key, text in asked.papers:
            if self._scored("method_evidence", asked, text) >= 3:
                texts = {
                    name: asked.prose(words, number_of(name, key))
                    for name in ("method", "results", "context")
                }
                readings.append({"key": key, "relevance": 2, **texts, **numbers})
            else:
                readings.append(
                    {"key": key, "relevance": 0, "method": "", "results": "", "context": ""}
                    | numbers
                )
        return {"papers": readings}

    def _soundness_review(self, asked: "_Asked") -> Any:
        words = asked.limit(190)
        return {
            **{
                name: asked.cited(words, place)
                for place, name in enumerate(("support", "contradictions"))
            },
            "suggestions": asked.suggestions(),
            "open_questions": asked.prose(words // 2, 5),
            "score": number_of(asked.idea, asked.methods[0]) % 11,
        }

    def _soundness_summary(self, asked: "_Asked") -> Any:
        words = asked.limit(30)
        return {
            name: [asked.prose(words, 3 * group + place) for place in range(3)]
            for group, name in enumerate(("strengths", "weaknesses", "suggestions"))
        }

    def _extract_dimensions(self, asked: "_Asked") -> Any:
        chosen = _spread(asked.sentences, 2 * (4 + number_of(asked.idea, "dimensions") % 2))
        pairs = [chosen[start : start + 2] for start in range(0, len(chosen), 2)]
        return {
            "dimensions": [
                {
                    "name": " ".join(pair[0].split()[:3]),
                    "statements": [asked.prose(30, 0, start=each) for each in pair],
                }
                for pair in pairs
            ]
        }

    def _contribution_queries(self, asked: "_Asked") -> Any:
        most = (
            int(found.group(1))
            if (found := re.search(r"write up to (\d+) queries", asked.system))
            else 3
        )
        return {
            "statements": [
                {"statement": number, "queries": self.queries(asked, text, most)}
                for number, text in asked.statements
            ]
        }

    def queries(self, asked: "_Asked", statement: str, most: int) -> list[str]:
        """Up to `most` queries of five words: the statement's most telling ones, then ever more of
        the next.
        """
        words = self.judge.telling(asked.idea, statement) or statement.split()
        queries = [
            " ".join([*words[:2], *words[2 + 3 * place : 5 + 3 * place]]) for place in range(most)
        ]
        return list(dict.fromkeys(queries))

    def _relevance(self, asked: "_Asked") -> Any:
        words = asked.limit(45)
        return {
            "papers": [
                {
                    "key": key,
                    "rationale": asked.prose(words, number_of(key)),
                    "score": self._scored("relevance", asked, text),
                }
                for key, text in asked.papers
            ]
        }

    def _compare_paper(self, asked: "_Asked") -> Any:
        words = asked.limit(45)
        return {
            "papers": [
                {
                    "key": key,
                    "overall_comparison": asked.prose(words, number_of(key)),
                    "remains": asked.prose(2 * words, number_of(key)) if place % 5 == 0 else "",
                    "quote": " ".join(text.split()[:12]) if place % 5 == 0 else "",
                    "dimensions": [
                        self._along(asked, name, words, number_of(text, name))
                        for name in asked.dimensions
                    ],
                }
                for place, (key, text) in enumerate(asked.papers)
            ]
        }

    def _along(self, asked: "_Asked", name: str, words: int, number: int) -> Any:
        """Three in five abstracts touch a dimension."""
        if number % 5 >= 3:
            return {"dimension": name, "overlap": "none", "comparison": "", "score": 0}
        return {
            "dimension": name,
            "overlap": ("none", "partial", "substantial")[number % 3],
            "comparison": asked.prose(words, number),
            "score": number % 3 - 1,
        }

    def _contribution_review(self, asked: "_Asked") -> Any:
        words = asked.limit(140)
        return {
            name: asked.cited(words, place)
            for place, name in enumerate(("strengths", "weaknesses"))
        } | {"suggestions": asked.suggestions()}

    def _weigh_concerns(self, asked: "_Asked") -> Any:
        """As many as it may, each of two points; the last is its own."""
        most = int(re.findall(r"Give at most (\d+) concerns", asked.user)[-1])
        sizes = {"point": 26, "why": 13, "action": 13, "would_change": 11}
        return {
            "concerns": [
                {
                    "sources": asked.concerns[2 * place : 2 * place + 2]
                    if place < most - 1
                    else [],
                    "kind": ("confound", "novelty", "worth")[place % 3],
                    "severity": ("fatal", "major", "minor")[place % 3],
                    "quote": " ".join(asked.sentences[place % len(asked.sentences)].split()[:10]),
                    "omission": "",
                    **{name: asked.prose(words, place) for name, words in sizes.items()},
                }
                for place in range(most)
            ]
        }

    def _challenge_concerns(self, asked: "_Asked") -> Any:
        return {
            "concerns": [
                {
                    "concern": key,
                    "defense": asked.prose(27, place),
                    "remains": ("fatal", "major", "minor", "refuted")[place % 4],
                }
                for place, key in enumerate(asked.concerns)
            ]
        }

    def _assess_plan(self, asked: "_Asked") -> Any:
        return {
            "venue": asked.prose(23, 1),
            "criteria": [
                {
                    "criterion": name,
                    "reasons": [asked.prose(13, place + n) for n in range(3)],
                    "score": number_of(asked.idea, name) % 101,
                }
                for place, name in enumerate(_CRITERION.findall(asked.system))
            ],
        }

    def _verify_citations(self, asked: "_Asked") -> Any:
        """One sentence in seven is corrected."""
        claims = _CLAIM.findall(asked.user)
        return {
            "claims": [
                {
                    "claim": int(number),
                    "verdict": "supported" if place % 7 else "partly",
                    "correction": "" if place % 7 else text,
                }
                for place, (number, text) in enumerate(claims)
            ]
        }


@dataclass(frozen=True)
class _Asked:
    """What a prompt shows."""

    system: str
    user: str
    idea: str
    sentences: list[str]

    @classmethod
    def of(cls, messages: Messages) -> "_Asked":
        system, user = messages[0]["content"], messages[1]["content"]
        idea = _IDEA.search(user)
        text = idea.group(1) if idea is not None else ""
        lines = [line.strip(" #*-") for line in _SENTENCE.split(text)]
        return cls(system, user, text, [line for line in lines if len(line.split()) >= 6])

    @property
    def methods(self) -> list[str]:
        return _METHOD.findall(self.user)

    @property
    def concerns(self) -> list[str]:
        return _CONCERN.findall(self.user)

    @property
    def statements(self) -> list[tuple[int, str]]:
        return [(int(number), text) for number, text in _STATEMENT.findall(self.user)]

    @property
    def dimensions(self) -> list[str]:
        return list(dict.fromkeys(_DIMENSION.findall(self.user)))

    @property
    def papers(self) -> list[tuple[str, str]]:
        return [(key, _TAG.sub("", text).strip()) for key, text in _PAPER.findall(self.user)]

    def limit(self, otherwise: int) -> int:
        found = _LIMIT.search(self.system + self.user.replace(self.idea, ""))
        return max(3, round(0.9 * int(found.group(1)))) if found else otherwise

    def prose(self, words: int, place: int, start: str = "") -> str:
        """`words` words of the idea's own sentences, from another one for another place."""
        text = start.split()
        while len(text) < words:
            text.extend(self.sentences[place % len(self.sentences)].split())
            place += 1
        return " ".join(text[:words])

    def cited(self, words: int, place: int) -> str:
        """Sentences of some 25 words, each with its key."""
        keys = [key for key, _ in self.papers] or ["P1"]
        count = max(round(words / 25), 1)
        return " ".join(
            f"{self.prose(words // count, place + n).replace('.', '')}"
            f" [{keys[(place + n) % len(keys)]}]."
            for n in range(count)
        )

    def suggestions(self) -> list[dict[str, str]]:
        """Two, as long as they are asked for."""
        return [
            {
                "change": self.prose(14, place),
                "because": self.cited(14, place),
                "how": self.prose(14, place + 1),
                "effort": "days",
                "deciding_outcome": self.prose(14, place + 2),
            }
            for place in range(2)
        ]


def _spread(items: Sequence[str], count: int) -> list[str]:
    """`count` items, evenly over the list."""
    step = max(len(items) / count, 1.0)
    return [items[int(place * step)] for place in range(count) if int(place * step) < len(items)]


@dataclass
class Prefixes:
    """How much of a prompt a provider would have had in its cache: what some earlier call of the
    same step began with.
    """

    seen: dict[str, list[str]] = field(default_factory=dict)

    def cached_tokens(self, messages: Messages) -> int:
        prompt = "".join(message["content"] for message in messages)
        earlier = self.seen.setdefault(prompt[:CACHED_FROM_CHARACTERS], [])
        shared = max((_common(prompt, each) for each in earlier), default=0)
        if shared < len(prompt) and len(earlier) < 4:
            earlier.append(prompt)
        return shared // 4


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def reading_server(reader: Reader) -> OpenAIServer:
    """The reader behind an OpenAI-shaped server on a free port of loopback."""
    return OpenAIServer(
        answer=reader.answer, cached_tokens=Prefixes().cached_tokens, record=False
    ).start()
