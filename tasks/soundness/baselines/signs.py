"""What single sentences of a paper are about: its procedure, its outcome, its conditions, or the limits of others."""

import re
from dataclasses import dataclass
from typing import Literal

from tasks.judging.text import has_numbers, outcome_cue

_PROCEDURE = re.compile(
    r"\b(?:we|i|this (?:paper|work|study|article)|our (?:\w+ ){0,2}(?:approach|method|framework|model|system|study))\b[^.;]{0,40}\b(?:propos|present"
    r"|introduc|develop|us(?:e|es|ed|ing)\b|train|appl(?:y|ies|ied)|design|stud(?:y|ies|ied)|investigat|collect|conduct|formulat|buil[dt]|leverag"
    r"|combin|employ|measur|record|analy[sz]|compar|deriv|construct|model|simulat|learn|explor|examin|perform)\w*",
    re.IGNORECASE,
)
_FINDING = re.compile(
    r"\b(?:we|results?|experiments?|evaluations?|findings?|analys[ei]s|simulations?|stud(?:y|ies))\b[^.;]{0,50}\b(?:show|find|found|demonstrat|observ|indicat"
    r"|reveal|suggest|confirm|report|achiev|outperform|prove|verif|validat)\w*"
    r"|\b(?:outperform|achiev|yield|attain|surpass|improv)(?:e[sd]?|s|ing)\b|\bsignificant(?:ly)?\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:data ?sets?|benchmarks?|corpus|corpora|participants?|patients?|subjects?|volunteers?|mice|mouse|rats?|cells?|cell lines?|samples?|cohort"
    r"|images|videos|trials|recordings?|GPUs?|simulat\w+|synthetic|real-world|settings?|conditions?|under|assum\w+|languages?|sites?|years)\b",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r"\b(?:existing|previous|prior|current|most|many|traditional|conventional|earlier|recent|other|state-of-the-art|standard|often|typically|usually"
    r"|however|challeng\w+|remains?|despite|although|while|they|these (?:methods|approaches|models))\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:we|our|this (?:paper|work|study)|results? (?:show|indicate|suggest|reveal))\b", re.IGNORECASE)
_RESCUE = re.compile(
    r"\b(?:overcom|address|mitigat|alleviat|tackl|avoid|without|eliminat|solv|remed|instead of|to (?:this|that) end|resolv|circumvent)\w*",
    re.IGNORECASE,
)

Sign = Literal["positive", "negative", "neutral"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence and what it is about. `of_others`: a limit of earlier work rather than an outcome of the paper's own."""

    sentence: str
    sign: Sign
    finding: bool
    procedure: bool
    condition: bool
    of_others: bool
    figures: bool


def read_sentence(sentence: str) -> Reading:
    """Classify by wording. A weakness the sentence says is overcome is no negative outcome."""
    sign = outcome_cue(sentence)
    if sign == "negative" and _RESCUE.search(sentence):
        sign = "neutral"
    own = _OWN.search(sentence) is not None
    finding = _FINDING.search(sentence) is not None
    return Reading(
        sentence=sentence,
        sign=sign,
        finding=finding,
        procedure=_PROCEDURE.search(sentence) is not None,
        condition=_CONDITION.search(sentence) is not None,
        of_others=sign == "negative" and not own and (_OF_OTHERS.search(sentence) is not None or not finding),
        figures=has_numbers(sentence),
    )
