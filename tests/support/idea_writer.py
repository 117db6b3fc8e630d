"""A model that writes ideas from what it is shown, and revises them well or badly."""

import re
from dataclasses import dataclass, field
from typing import Any

from tests.support.openai_server import Messages
from tests.support.schema_answers import Schema, answer_from_schema

_CANDIDATE = re.compile(r"^Candidate (C\d+):", re.MULTILINE)
_FINDING = re.compile(r"^Finding (F\d+) \([a-z ]+\):\n<finding>\n(.*?)\n</finding>", re.M | re.S)
_KEYWORDS = re.compile(r"<keywords>\n(.*?)\n</keywords>", re.DOTALL)
_SEED = re.compile(r"<seed>\n(.*?)\n</seed>", re.DOTALL)


@dataclass
class IdeaWriter:
    """Answers by the schema it is asked for.

    Attributes:
        answers: whether a revision answers the first finding it is shown, and quotes how.
        alike: whether every idea is the same one.
        chooses: whether it chooses a concept, or none of those shown.
    """

    answers: bool = True
    alike: bool = False
    chooses: bool = True
    asked: list[str] = field(default_factory=list)

    def __call__(self, messages: Messages, schema: Schema | None) -> Any:
        wanted = set((schema or {}).get("properties", {}))
        data = messages[-1]["content"]
        if "chosen" in wanted:
            self.asked.append("keyword")
            keys = _CANDIDATE.findall(data)
            told = [{"candidate": key, "relation": f"Both stand near {key}."} for key in keys]
            chosen, reason = (keys[0], "It is first.") if self.chooses else ("", "None is new.")
            return {"relations": told, "chosen": chosen, "replaced": "", "reason": reason}
        if "falsifier" in wanted:
            self.asked.append("proposal")
            return self._proposal(data)
        return answer_from_schema(messages, schema or {})

    def _proposal(self, data: str) -> dict[str, Any]:
        found = _KEYWORDS.search(data)
        words = "sparse pebbles" if self.alike or found is None else found[1].replace("\n", " and ")
        seed = "" if self.alike else (_SEED.search(data) or [""])[0]
        findings = _FINDING.findall(data)
        said = "We measure everything that is asked for again."
        answers: list[dict[str, str]] = []
        if findings:
            key, text = findings[0]
            words_of = " ".join(text.split()[:12])
            said = f"This revision now handles that {words_of} by a control of its own."
            quote = said if self.answers else "Words that stand nowhere in the text at all."
            answers = [{"finding": key, "quote": quote}]
        return {
            "title": f"On {words}",
            "background": f"Little is known of {words}. {seed}",
            "problem": f"Does {words} help?",
            "method": f"We combine {words}. {said}",
            "experiment": "Five data sets, three baselines, accuracy.",
            "falsifier": "No gain on any of them.",
            "answers": answers,
        }
