"""Answers to any step, made from its JSON schema and what the prompt shows: keys are echoed, texts
cite them.
"""

import json
import re
import zlib
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

Schema = dict[str, Any]
_SCHEMA_IN_PROMPT = re.compile(r"JSON schema:\s*```json\s*(\{.*?\})\s*```", re.DOTALL)
_PAPER = re.compile(r"^(?:Paper|Item) ([PK]\d+)", re.MULTILINE)
_DIMENSION = re.compile(r"^Dimension (\S+):", re.MULTILINE)
_PART = re.compile(r"^Part ([a-z_]+)[:,]", re.MULTILINE)
_KINDS = re.compile(r"^Kinds: ([a-z, ]+)$", re.MULTILINE)
_CONCERN = re.compile(r"^Concern (C\d+),", re.MULTILINE)
_STATEMENT = re.compile(r"^Statement (\d+):", re.MULTILINE)
_METHOD = re.compile(r"^Method (\d+):", re.MULTILINE)
_IDEA = re.compile(r"<(idea|method)>\n(.*?)\n</\1>", re.DOTALL)


def find_schema(body: dict[str, Any]) -> Schema | None:
    """The schema a request asks for: in `response_format`, or described in a message."""
    wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    return wanted or schema_in_prompt(body.get("messages", []))


def schema_in_prompt(messages: list[dict[str, str]]) -> Schema | None:
    """The schema that a message describes."""
    for message in messages:
        if match := _SCHEMA_IN_PROMPT.search(message["content"]):
            return json.loads(match.group(1))
    return None


def answer_from_schema(messages: list[dict[str, str]], schema: Schema) -> dict[str, Any]:
    """An instance of `schema` that fits the prompt; equal messages give equal answers."""
    first = takewhile(lambda message: message["role"] != "assistant", messages)
    asked = [message["content"] for message in first if message["role"] == "user"]
    data = asked[-1] if asked else ""  # some models are given the instructions as a user's, before
    return _Writer.over(data).value(schema, schema, "", 0)


@dataclass(frozen=True)
class _Writer:
    data: str
    papers: list[str]
    dimensions: list[str]
    statements: list[int]
    methods: list[int]
    concerns: list[str]
    places: list[dict[str, str]]
    sentences: list[str]
    seed: int

    @classmethod
    def over(cls, data: str) -> "_Writer":
        idea = max((match.group(2) for match in _IDEA.finditer(data)), key=len, default=data)
        lines = [
            line.strip(" -*")
            for line in re.split(r"(?<=[.!?])\s+|\n+", idea)
            if not line.startswith("#")
        ]
        return cls(
            data=data,
            papers=_unique(_PAPER.findall(data)),
            dimensions=_unique(_DIMENSION.findall(data)),
            places=_places(data),
            statements=[int(number) for number in _unique(_STATEMENT.findall(data))],
            methods=[int(number) for number in _unique(_METHOD.findall(data))],
            concerns=_unique(_CONCERN.findall(data)),
            sentences=[line for line in lines if len(line.split()) >= 6]
            or ["The plan is judged by what it says."],
            seed=zlib.crc32(data.encode()),
        )

    def value(self, node: Schema, root: Schema, name: str, place: int) -> Any:
        node = self._resolved(node, root)
        if name in ("part", "kind") and self.places:
            return self.places[place % len(self.places)][name]
        if "const" in node:
            return node["const"]
        if "enum" in node and name in ("criterion", "question"):
            return node["enum"][place]
        if "enum" in node:
            return node["enum"][(self.seed + place) % len(node["enum"])]
        kind = node.get("type", "string")
        if kind == "object" and {"quote", "omission"} <= set(node.get("properties", {})):
            sources = {"sources": self.concerns[place : place + 1]}
            return self._point(place) | (sources if "sources" in node["properties"] else {})
        if kind == "object" and "paper_quote" in node.get("properties", {}):
            question = self.value(node["properties"]["question"], root, "question", place)
            quote = " ".join(self.sentences[0].split()[:12])
            return {"question": question, "status": "stated", "quote": quote}
        if kind == "object" and "marginally_novel" in node.get("properties", {}):
            return self._probabilities(node["properties"])
        if kind == "object":
            return {
                key: self.value(inner, root, key, place)
                for key, inner in node.get("properties", {}).items()
            }
        if kind == "array":
            return self._list(node, root, name)
        if kind in ("integer", "number"):
            return self._number(node, kind, name, place)
        if kind == "boolean":
            return True
        return None if kind == "null" else self._text(name, place)

    def _point(self, place: int) -> dict[str, Any]:
        """One point about a plan as a good reviewer would give it: most quote, some name an
        omission.
        """
        kinds = ("missing_baseline", "confound", "statistics", "strength", "metric")
        severities = ("major", "minor", "fatal", None, "minor")
        omitted = place % 5 == 2
        sentence = self.sentences[place % len(self.sentences)]
        return {
            "kind": kinds[place % 5],
            "severity": severities[place % 5],
            "point": f"Point {place + 1} is about what the plan calls “{sentence[:60]}”.",
            "quote": "" if omitted else " ".join(sentence.split()[:12]),
            "omission": "A number of repetitions in the evaluation." if omitted else "",
            "why": "The predicted result would appear without the effect that is claimed.",
            "would_change": "The same result in a control that lacks the new part.",
            "action": "Add the control with the same budget and report both.",
            "effort": "days",
        }

    def _probabilities(self, scores: Schema) -> dict[str, int]:
        """Percent that sum to 100, most of them on one score."""
        likeliest = list(scores)[self.seed % len(scores)]
        return {name: 60 if name == likeliest else 10 for name in scores}

    def _resolved(self, node: Schema, root: Schema) -> Schema:
        if "$ref" in node:
            return self._resolved(root["$defs"][node["$ref"].rsplit("/", 1)[-1]], root)
        options = node.get("anyOf") or node.get("oneOf")
        if options:
            return self._resolved(
                next((option for option in options if option.get("type") != "null"), options[0]),
                root,
            )
        return node

    def _list(self, node: Schema, root: Schema, name: str) -> list[Any]:
        items = self._resolved(node.get("items", {"type": "string"}), root)
        fields = items.get("properties", {})
        if "dimension" in fields:
            count = len(self.dimensions)
        elif {"part", "kind"} <= set(fields) and self.places:
            count = len(self.places)
        elif "statement" in fields:
            count = len(self.statements)
        elif "method" in fields and self.methods:
            count = len(self.methods)
        elif "criterion" in fields and "enum" in self._resolved(fields["criterion"], root):
            count = len(self._resolved(fields["criterion"], root)["enum"])
        elif "question" in fields and "enum" in self._resolved(fields["question"], root):
            count = len(self._resolved(fields["question"], root)["enum"])
        elif "concern" in fields:
            count = min(len(self.concerns), 2)
        elif "key" in fields:
            count = len(self.papers)
        else:
            count = {"methods": 5, "dimensions": 3, "statements": 2, "queries": 3, "points": 8}.get(
                name, 3
            )
        count = min(max(count, node.get("minItems", 0)), node.get("maxItems", 50))
        return [self.value(items, root, name.removesuffix("s"), place) for place in range(count)]

    def _number(self, node: Schema, kind: str, name: str, place: int) -> float:
        if name == "statement" and self.statements:
            return self.statements[place % len(self.statements)]
        if name == "method" and self.methods:
            return self.methods[place % len(self.methods)]
        if name == "criterion":
            return place + 1
        low, high = node.get("minimum", 0), node.get("maximum", node.get("minimum", 0) + 5)
        spread = (self.seed >> (place % 16)) % (int(high - low) + 1)
        return int(low + spread) if kind == "integer" else float(low + spread)

    def _text(self, name: str, place: int) -> str:
        if name == "key":
            return self.papers[place % len(self.papers)] if self.papers else "P1"
        if name == "concern" and self.concerns:
            return self.concerns[place % len(self.concerns)]
        if name == "dimension" and self.dimensions:
            return self.dimensions[place % len(self.dimensions)]
        if name == "quote" and "<paper>" in self.data:
            return ""  # what little overlaps is not quoted
        sentence = self.sentences[place % len(self.sentences)]
        if name in ("quote", "text", "statement", "query", "name"):
            words = {"query": 12, "name": 4}.get(name, 60)
            return " ".join(sentence.split()[:words])
        first, second = (self.papers * 2)[:2] if self.papers else ("", "")
        if name == "reason" and first:
            return f"A study close to the plan found just this [{first}]."
        if (
            name
            in (
                *("support", "contradictions", "suggestions", "strengths", "weaknesses"),
                *("section", "answer"),
            )
            and first
        ):
            return (
                f"What was found speaks to this {name} in a setting close to the plan [{first}]. "
                f"A second paper agrees in part [{second}]."
            )
        return f"In short, on {name or 'the matter'}: {sentence[:160]}"


def _places(data: str) -> list[dict[str, str]]:
    """Every part shown, in every kind of place named."""
    kinds = [kind.strip() for found in _KINDS.findall(data)[:1] for kind in found.split(",")]
    return [{"part": part, "kind": kind} for part in _unique(_PART.findall(data)) for kind in kinds]


def _unique(found: list[str]) -> list[str]:
    return list(dict.fromkeys(found))
