"""What single sentences of a paper are about: its procedure, its outcome, its conditions, or the
limits of others.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from schemas.patterns import IGNORECASE, bounded
from tasks.text.words import has_numbers, outcome_cue

_PROCEDURE = bounded(
    r"\b(?:we|i|this (?:paper|work|study|article)|our (?:\w{1,40}"
    r" ){0,2}(?:approach|method|framework|model|system"
    r"|study))\b[^.;]{0,40}\b(?:propos|present"
    r"|introduc|develop|us(?:e|es|ed|ing)\b|train|appl(?:y|ies|ied)|design|stud(?:y|ies|ied)|investigat|collect"
    r"|conduct|formulat|buil[dt]|leverag"
    r"|combin|employ|measur|record|analy[sz]|compar|deriv|construct|model|simulat|learn|explor|examin|perform)\w*+",
    IGNORECASE,
)
_FINDING = bounded(
    r"\b(?:we|results?|experiments?|evaluations?|findings?|analys[ei]s|simulations?|stud(?:y"
    r"|ies))\b[^.;]{0,50}\b(?:show|find|found|demonstrat|observ|indicat"
    r"|reveal|suggest|confirm|report|achiev|outperform|prove|verif|validat)\w*+"
    r"|\b(?:outperform|achiev|yield|attain|surpass|improv|exceed|beat|scor|reach|rais|lower|reduc|favou?r|match"
    r"|increas|decreas|boost|gain|cut|resist)"
    r"(?:e[sd]?|s|ed|ing)?\b|\bsignificant(?:ly)?\b|\b(?:rises?|rose|falls?|fell|drops?|dropped)\b"
    r"|\bresults?\b[^.;]{0,40}\b(?:is|are|were)\b",
    IGNORECASE,
)
_CONDITION = bounded(
    r"\b(?:data"
    r" ?sets?|benchmarks?|corpus|corpora|participants?|patients?|subjects?|volunteers?|mice|mouse|rats?"
    r"|cells?|cell lines?|samples?|cohort"
    r"|images|videos|trials|recordings?|GPUs?|simulat\w++|synthetic|real-world|settings?|conditions?|under|assum\w++"
    r"|languages?|sites?|years)\b",
    IGNORECASE,
)
_OF_OTHERS = bounded(
    r"\b(?:existing|previous|prior|current|most|many|traditional|conventional|earlier|recent|other|state-of-the-art"
    r"|standard|often|typically|usually"
    r"|however|challeng\w++|remains?|despite|although|while|they|these"
    r" (?:methods|approaches|models))\b",
    IGNORECASE,
)
_TURNED = bounded(
    r"\b(?:less|lower|fewer|little|reduc\w{1,40}|avoid\w{0,40}|prevent\w{0,40}|without|no)"
    r" (?:\w{1,40} )?"
    r"(?:overfit\w*+|bias|errors?|degradation|collapse|failures?|instabilit\w*+|sensitiv\w*+|loss)\b",
    IGNORECASE,
)
_SETTING = bounded(
    r"\b(?:have|has) (?:\w{1,40}"
    r" ){0,2}(?:been|achieved|shown|become|emerged|attracted|made|enriched|gained|received|proven|demonstrated)\b"
    r"|\brecent (?:\w{1,40} )?(?:studies|works?|advances|years|progress)\b|\bis"
    r" (?:widely|commonly|heavily|often) \w++|\bmany attempts\b",
    IGNORECASE,
)
_OWN = bounded(
    r"\b(?:we|our|this (?:paper|work|study)|results? (?:show|indicate|suggest|reveal))\b",
    IGNORECASE,
)
_NO_OUTCOME = bounded(
    r"\binductive"
    r" bias(?:es)?\b|\bexceed\w{0,40}\s{1,9}(?:(?:a|an|the|its|their|this)\s{1,9})?(?:\w{1,40}\s{1,9})?thresholds?\b",
    IGNORECASE,
)
_RESCUE = bounded(
    r"\b(?:overcom|address|mitigat|alleviat|tackl|avoid|without|eliminat|solv|remed|instead of|to"
    r" (?:this|that) end|resolv|circumvent)\w*+",
    IGNORECASE,
)

_STRONGLY_NEGATIVE = bounded(
    r"\b(?:harmful|detrimental|counterproductive|worse than|no better than|fails? to|failed to|does"
    r" not (?:improve|generali[sz]e|hold|help)"
    r"|did not (?:improve|differ|reach|affect)|no significant|not significant(?:ly)?|even"
    r" worse|sharply drop\w*+"
    r"|substantially (?:lower|worse))\b",
    IGNORECASE,
)
_NEGATIVE_TOO = bounded(
    r"\b(?:intractable|np-hard|computationally"
    r" (?:expensive|intensive|demanding)|costly|laborious|time-consuming"
    r"|poor(?:ly)?|drops? (?:in|by|when|as)|trade-?offs?"
    r"|only (?:marginal|modest|slight|limited|partial)\w*+|not always|caution\w*+|unclear"
    r"|poses? (?:\w{1,40} ){0,2}challenges?|remains? (?:\w{1,40} ){0,2}(?:challeng|difficult"
    r"|open|unsolved|unclear|elusive)\w*+|challenging|difficult(?:y|ies)?|cannot|hinder\w*+|impractical|infeasible"
    r"|susceptible|confound\w*+|artefacts?|artifacts?"
    r"|hallucinat\w*+|gap between|discrepan\w++|neglect\w*+|ignor(?:e|es|ed|ing))\b",
    IGNORECASE,
)

Sign = Literal["positive", "negative", "neutral"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence and what it is about.

    `of_others`: it tells of the setting or of earlier work, not of the paper's own.
    """

    sentence: str
    sign: Sign
    finding: bool
    procedure: bool
    condition: bool
    of_others: bool
    figures: bool


@lru_cache(maxsize=8192)
def read_sentence(sentence: str) -> Reading:
    """Classify by wording. A weakness the sentence says is overcome is no negative outcome."""
    sign = _sign(sentence)
    finding = _FINDING.search(sentence) is not None
    of_others = (
        _OWN.search(sentence) is None
        and (_OF_OTHERS if sign == "negative" else _SETTING).search(sentence) is not None
    )
    if sign == "negative" and not (finding or of_others):
        sign = "neutral"
    return Reading(
        sentence=sentence,
        sign=sign,
        finding=finding,
        procedure=_PROCEDURE.search(sentence) is not None,
        condition=_CONDITION.search(sentence) is not None,
        of_others=of_others,
        figures=has_numbers(sentence),
    )


def _sign(sentence: str) -> Sign:
    sentence = _TURNED.sub(" better ", _NO_OUTCOME.sub(" ", sentence))
    if _STRONGLY_NEGATIVE.search(sentence):
        return "neutral" if _RESCUE.search(sentence) else "negative"
    sign = outcome_cue(sentence)
    if sign == "neutral" and _NEGATIVE_TOO.search(sentence):
        sign = "negative"
    return "neutral" if sign == "negative" and _RESCUE.search(sentence) else sign
