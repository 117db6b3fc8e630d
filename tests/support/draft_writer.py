"""A model on loopback that writes drafts: sentences that are carried, and some that are not."""

from typing import Any

from schemas.text.patterns import bounded
from tests.support.openai_server import Messages
from tests.support.schema_answers import Schema, answer_from_schema

ENGINE = "litellm:openai/loopback"
_WORK = bounded(r"Work \[@([A-Za-z0-9_:.-]{1,80})\]")
_CLAIM = bounded(r"^Claim (\S{1,120}), ", 8)
_NUMBERED = bounded(r"Claim (\d{1,4}):\n<claim>\n([^\n]{1,2000})")
HONEST = "Bats choose their steps, and the gain is {{task-0.c001.gain}}."
TYPED = "The gain is 0.21 on fresh data."
UNKNOWN = "It takes {{task-0.guess}} steps."
INVENTED = "Nobody has asked this before [@nobody1999]."
UNSUPPORTED = "Whales swim in very cold water all year [@{key}]."
DOUBTED = "Some 77 bats fly over the hills of that study [@{key}]."
SUPPORTED = "Wind makes bats of the study keep away from moths [@{key}]."
REVISED = "This sentence stands in the revised section."
POINT = "Say again what the introduction promised."
FOUND = "What the revised section says of itself is shown nowhere."
MET = "What the reviewer found is met in this sentence."
SEEN = "Say which bar is meant by the first dot."
CAPTION = "Bats are shown steps. Arrows lead from what is given to what is done."


def answer(messages: Messages, schema: Schema | None) -> Any:
    """By what it is asked for."""
    system, user = messages[0]["content"], messages[-1]["content"]
    if system.startswith("You write one section"):
        return _section(user)
    if system.startswith("You look at one figure"):
        return {"points": [{"point": SEEN, "misleads": False}]}
    if system.startswith("You read a scientific manuscript section by section"):
        one = {"problem": FOUND, "quote": REVISED, "explanation": "Nothing carries it."}
        one |= {"consequence": "A reader is misled.", "confidence_percent": 90}
        return {"candidates": [one] if REVISED in user else [], "notes": "Bats."}
    if system.startswith("You are one of several reviewers"):
        return {"assessment": "Fine.", "candidates": []}
    if system.startswith("A point has been raised"):
        return {
            "innocent_explanation": "None.",
            "quote": REVISED,
            "reason": "It is so.",
            "verdict": "wrong",
            "confidence_percent": 90,
        }
    if system.startswith("You read the draft"):
        points = [{"heading": "Introduction", "point": POINT}]
        return {"points": points}
    if system.startswith("You describe the method figure"):
        boxes = [
            {"id": name, "label": f"{name} bats", "group": "given"} for name in ("show", "count")
        ]
        arrows = [{"source": "show", "target": "count", "label": ""}]
        return {"caption": CAPTION, "boxes": boxes, "arrows": arrows}
    if not system.startswith("You check the citations"):
        return answer_from_schema(messages, schema or {})
    verdicts = [
        {
            "claim": int(number),
            "verdict": "not" if "Whales" in sentence else "supported",
            "correction": "",
        }
        for number, sentence in _NUMBERED.findall(user)
    ]
    return {"claims": verdicts}


def _section(user: str) -> dict[str, str]:
    """A section of those sentences; written anew, it says so and no longer types a number."""
    anew = "The section as it was:" in user
    lines = [REVISED] if anew else [TYPED]
    if FOUND in user:
        lines = [MET]
    keys = set(_CLAIM.findall(user))
    if "task-0.c001.gain" in keys:
        lines += [HONEST, UNKNOWN]
    works = _WORK.findall(user)
    if works:
        key = works[0]
        quote = f"As written: {{{{work.{key.lower()}.quote}}}} [@{key}]."
        lines += [
            quote,
            UNSUPPORTED.format(key=key),
            DOUBTED.format(key=key),
            SUPPORTED.format(key=key),
            INVENTED,
        ]
    return {"section": " ".join(lines) + "\n\n- An entry of a list."}
