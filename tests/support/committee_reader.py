"""A model on loopback that sits on committees: it claims, finds and says as much as the plan
expects, the same for the same prompt.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from tasks.committee.steps import STEPS
from tests.benchmarks._reader import number_of
from tests.support.openai_server import Messages
from tests.support.schema_answers import Schema

CLAIMS_PER_PART, CLAIM_WORDS = 4, 13
TELLING_PERCENT = 40
_NAMES = {step.template.splitlines()[0]: step.name for step in STEPS}
_PART = re.compile(r"^Part ([a-z_]+):", re.MULTILINE)
_KINDS = re.compile(r"^Kinds: (.+)$", re.MULTILINE)
_ITEM = re.compile(r"^Item ([KP]\d+) ", re.MULTILINE)
_DIMENSION = re.compile(r"^Dimension (\S+):", re.MULTILINE)
_MOST_QUERIES = re.compile(r"up to (\d+) (?:new )?queries")
_IDEA = re.compile(r"<idea>\n(.*?)\n</idea>", re.DOTALL)
PARTS = (
    "tldr",
    "motivations",
    "research_questions",
    "methods",
    "experimental_settings",
    "expected_results",
)


def answer(messages: Messages, schema: Schema | None) -> str:
    """The reply to any step of the committee."""
    system, user = messages[0]["content"], messages[1]["content"]
    return json.dumps(_ANSWERS[_NAMES[system.splitlines()[0]]](system, user), ensure_ascii=False)


def _structure(system: str, user: str) -> Any:
    return {
        part: [_prose(user, CLAIM_WORDS, part, str(place)) for place in range(CLAIMS_PER_PART)]
        for part in PARTS
    }


def _queries(system: str, user: str) -> Any:
    most = int(_MOST_QUERIES.search(system).group(1))  # type: ignore[union-attr]
    return {
        "entries": [
            {**where, "queries": _some_queries(user, where, most)} for where in _places(user)
        ]
    }


def _refined(system: str, user: str) -> Any:
    most = int(_MOST_QUERIES.search(system).group(1))  # type: ignore[union-attr]
    return {
        "entries": [
            {**where, "queries": _some_queries(user, where, most)} for where in _places(user)
        ]
    }


def _credibility(system: str, user: str) -> Any:
    return {
        "items": [{"key": key, "score": number_of(user, key) % 11} for key in _ITEM.findall(user)]
    }


def _grounding(system: str, user: str) -> Any:
    return {"items": [_grounded(user, key) for key in _ITEM.findall(user)]}


def _grounded(user: str, key: str) -> Any:
    tells = number_of(user, key) % 100 < TELLING_PERCENT
    return {
        "key": key,
        "relation": "supports" if tells else "neither",
        "evidence": _prose(user, 30, key),
        "analysis": _prose(user, 30, key, "analysis"),
        "relevance": 6 if tells else 2,
        "passage": _prose(user, 20, key, "passage"),
    }


def _reviews(system: str, user: str) -> Any:
    keys = _ITEM.findall(user)
    cited = f" [{keys[0]}]" if keys else ""
    reviews = [
        (name, f"{_prose(user, 100, name)}{cited}.", number_of(user, name) % 11)
        for name in _DIMENSION.findall(user)
    ]
    return {
        "reviews": [
            {"dimension": name, "review": review, "score": score} for name, review, score in reviews
        ]
    }


def _meta(system: str, user: str) -> Any:
    return {name: _prose(user, 115, name) for name in ("summary", "strengths", "weaknesses")} | {
        "decision": "Poster"
    }


def _later(system: str, user: str) -> Any:
    return {"suggestions": _prose(user, 260, "later")}


def _places(user: str) -> list[dict[str, str]]:
    kinds = _KINDS.search(user).group(1).split(", ")  # type: ignore[union-attr]
    return [{"part": part, "kind": kind} for part in _PART.findall(user) for kind in kinds]


def _some_queries(user: str, where: dict[str, str], most: int) -> list[str]:
    return [_prose(user, 6, where["part"], where["kind"], str(place)) for place in range(most)]


def _prose(user: str, words: int, *about: str) -> str:
    """`words` words of the idea, from another place for another thing."""
    text = _IDEA.search(user).group(1).split()  # type: ignore[union-attr]
    start = number_of(user, *about)
    return " ".join(text[(start + place * (1 + start % 7)) % len(text)] for place in range(words))


_ANSWERS: dict[str, Callable[[str, str], Any]] = {
    "structure_idea": _structure,
    "knowledge_queries": _queries,
    "refine_queries": _refined,
    "judge_credibility": _credibility,
    "ground_evidence": _grounding,
    "persona_review": _reviews,
    "meta_review": _meta,
    "later_suggestions": _later,
}
