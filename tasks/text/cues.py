"""Words by which a sentence or heading shows what it is: a claim, a gap, background."""

from schemas.patterns import IGNORECASE, Pattern, bounded


def any_of(expressions: str) -> Pattern:
    return bounded(rf"\b(?:{'|'.join(expressions.split())})", IGNORECASE)


CLAIM = any_of(
    r"we\b our\b this\s(?:work|paper|study|project|idea|plan|approach|research) i\s(?:will|propose)"
    r" will\b would\b propos aims?\b novel "
    r"the\sfirst\b innovat contribut hypothes goal\b"
    r" (?:develop|design|create|build|implement|use|train|apply)\s(?:a|an|the)\b"
)

NOVELTY = any_of(
    r"novel new\b the\sfirst\b innovat core contribut unlike beyond propos introduc hypothesis"
    r" unified key\b instead rather\sthan"
)

GAP = any_of(
    r"limitations? limited fail(?:s|ed|ing)?\b lack(?:s|ing)?\b remains?\b challeng however"
    r" traditional(?:ly)? existing "
    r"previous(?:ly)? prior\swork current(?:ly)? despite poorly\sunderstood problem\sis struggle"
    r" while\s"
)

BACKGROUND = any_of(
    r"problem background motivation introduction related prior context gap limitation"
)
"""Headings under which an idea mostly speaks of others."""

OWN_WORK = any_of(
    r"we\s(?:propose|present|introduce|develop|show|study|describe|report|investigate|design|find|demonstrate) "
    r"we\s(?:evaluate|build|collect|release|prove)"
    r" (?:this|the\spresent)\s(?:paper|work|article|study) "
    r"our\s(?:method|approach|model|framework|system|algorithm|results)"
)

DEPENDENT = bounded(
    r"^(?:this|these|those|they|it|its|their|such|he|she|here|there|then|finally|additionally|furthermore|moreover)\b",
    IGNORECASE,
)
"""A sentence that leans on the one before it."""
