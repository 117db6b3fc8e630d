"""Classification of sentences by wording, and detection of research practices."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.text.words import has_numbers, outcome_cue


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
"""Headings of sections about the work of others."""

OWN_WORK = any_of(
    r"we\s(?:propose|present|introduce|develop|show|study|describe|report|investigate|design|find"
    r"|demonstrate) "
    r"we\s(?:evaluate|build|collect|release|prove)"
    r" (?:this|the\spresent)\s(?:paper|work|article|study) "
    r"our\s(?:method|approach|model|framework|system|algorithm|results)"
)

DEPENDENT = bounded(
    r"^(?:this|these|those|they|it|its|their|such|he|she|here|there|then|finally|additionally"
    r"|furthermore|moreover)\b",
    IGNORECASE,
)
"""A sentence that depends on the previous one."""

TO_THE_REVIEWER = bounded(
    r"\b(?:ignore|disregard|forget)\b[^.]{0,30}\b(?:previous|prior|above|earlier|all other)\b"
    r"[^.]{0,20}\binstructions?\b"
    r"|\b(?:give|write|provide|output|produce)\b[^.]{0,20}\b(?:positive|favou?rable) review\b"
    r"|\bdo not\b[^.]{0,30}\b(?:negatives|weaknesses|shortcomings)\b"
    r"|\b(?:you (?:must|should)|please) (?:recommend|accept)\b[^.]{0,40}"
    r"\b(?:paper|manuscript|accept)",
    IGNORECASE,
)
"""Instructions to a reviewer or a model about the verdict."""


_PROCEDURE = bounded(
    r"\b(?:we|i|this (?:paper|work|study|article)|our (?:\w{1,40}"
    r" ){0,2}(?:approach|method|framework|model|system"
    r"|study))\b[^.;]{0,40}\b(?:propos|present"
    r"|introduc|develop|us(?:e|es|ed|ing)\b|train|appl(?:y|ies|ied)|design|stud(?:y|ies|ied)"
    r"|investigat|collect"
    r"|conduct|formulat|buil[dt]|leverag"
    r"|combin|employ|measur|record|analy[sz]|compar|deriv|construct|model|simulat|learn|explor"
    r"|examin|perform)\w*+",
    IGNORECASE,
)
_FINDING = bounded(
    r"\b(?:we|results?|experiments?|evaluations?|findings?|analys[ei]s|simulations?|stud(?:y"
    r"|ies))\b[^.;]{0,50}\b(?:show|find|found|demonstrat|observ|indicat"
    r"|reveal|suggest|confirm|report|achiev|outperform|prove|verif|validat)\w*+"
    r"|\b(?:outperform|achiev|yield|attain|surpass|improv|exceed|beat|scor|reach|rais|lower|reduc"
    r"|favou?r|match"
    r"|increas|decreas|boost|gain|cut|resist)"
    r"(?:e[sd]?|s|ed|ing)?\b|\bsignificant(?:ly)?\b|\b(?:rises?|rose|falls?|fell|drops?|dropped)\b"
    r"|\bresults?\b[^.;]{0,40}\b(?:is|are|were)\b",
    IGNORECASE,
)
_CONDITION = bounded(
    r"\b(?:data"
    r" ?sets?|benchmarks?|corpus|corpora|participants?|patients?|subjects?|volunteers?|mice|mouse"
    r"|rats?"
    r"|cells?|cell lines?|samples?|cohort"
    r"|images|videos|trials|recordings?|GPUs?|simulat\w++|synthetic|real-world|settings?"
    r"|conditions?|under|assum\w++"
    r"|languages?|sites?|years)\b",
    IGNORECASE,
)
_OF_OTHERS = bounded(
    r"\b(?:existing|previous|prior|current|most|many|traditional|conventional|earlier|recent"
    r"|other|state-of-the-art"
    r"|standard|often|typically|usually"
    r"|however|challeng\w++|remains?|despite|although|while|they|these"
    r" (?:methods|approaches|models))\b",
    IGNORECASE,
)
_AVOIDED_FAULT = bounded(
    r"\b(?:less|lower|fewer|little|reduc\w{1,40}|avoid\w{0,40}|prevent\w{0,40}|without|no)"
    r" (?:\w{1,40} )?"
    r"(?:overfit\w*+|bias|errors?|degradation|collapse|failures?|instabilit\w*+|sensitiv\w*+"
    r"|loss)\b",
    IGNORECASE,
)
_SETTING = bounded(
    r"\b(?:have|has) (?:\w{1,40}"
    r" ){0,2}(?:been|achieved|shown|become|emerged|attracted|made|enriched|gained|received|proven"
    r"|demonstrated)\b"
    r"|\brecent (?:\w{1,40} )?(?:studies|works?|advances|years|progress)\b|\bis"
    r" (?:widely|commonly|heavily|often) \w++|\bmany attempts\b",
    IGNORECASE,
)
_OWN_WORK = bounded(
    r"\b(?:we|our|this (?:paper|work|study)|results? (?:show|indicate|suggest|reveal))\b",
    IGNORECASE,
)
_NO_OUTCOME = bounded(
    r"\binductive"
    r" bias(?:es)?\b|\bexceed\w{0,40}\s{1,9}(?:(?:a|an|the|its|their"
    r"|this)\s{1,9})?(?:\w{1,40}\s{1,9})?thresholds?\b",
    IGNORECASE,
)
_REMEDY = bounded(
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
    r"|open|unsolved|unclear|elusive)\w*+|challenging|difficult(?:y|ies)?|cannot|hinder\w*+"
    r"|impractical|infeasible"
    r"|susceptible|confound\w*+|artefacts?|artifacts?"
    r"|hallucinat\w*+|gap between|discrepan\w++|neglect\w*+|ignor(?:e|es|ed|ing))\b",
    IGNORECASE,
)

Sign = Literal["positive", "negative", "neutral"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A classified sentence.

    `of_others`: it is about the setting or earlier work, not the paper's own.
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
    """Classify a sentence by wording.

    A weakness that is overcome is no negative outcome.
    """
    sign = _sign(sentence)
    finding = _FINDING.search(sentence) is not None
    of_others = (
        _OWN_WORK.search(sentence) is None
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
    sentence = _AVOIDED_FAULT.sub(" better ", _NO_OUTCOME.sub(" ", sentence))
    if _STRONGLY_NEGATIVE.search(sentence):
        return "neutral" if _REMEDY.search(sentence) else "negative"
    sign = outcome_cue(sentence)
    if sign == "neutral" and _NEGATIVE_TOO.search(sentence):
        sign = "negative"
    return "neutral" if sign == "negative" and _REMEDY.search(sentence) else sign


PRACTICES: dict[str, Pattern] = {
    name: bounded(wording, IGNORECASE)
    for name, wording in {
        "an ablation": r"\bablat\w+",
        "cross-validation": r"\bcross[- ]validat\w+",
        "a control group": r"\bcontrol (?:group|condition|arm)s?\b|\bplacebo\b|\bsham\b",
        "randomisation": r"\brandomi[sz]ed (?:controlled|trial|assign\w+)|\brandom assignment\b",
        "blinding": r"\b(?:double|single)[- ]blind(?:ed)?\b|\bblinded\b",
        "a power analysis": r"\bpower analys[ie]s\b|\bstatistical power\b",
        "pre-registration": r"\bpre-?regist\w+",
        "an out-of-distribution test": (
            r"\bout[- ]of[- ](?:distribution|domain)\b|\bdistribution(?:al)? shifts?\b|\bdomain"
            r" shifts?\b"
        ),
        "uncertainty estimates": (
            r"\buncertaint(?:y|ies) (?:estimat|quantif)\w+|\bcalibrated"
            r" (?:uncertaint|probabilit)\w*|\b(?:confidence|credible) intervals?\b"
        ),
        "human evaluation": (
            r"\bhuman (?:evaluat|judg|annotat|rat)\w+|\buser stud(?:y|ies)\b|\bexpert"
            r" (?:evaluat|annotat|review)\w+"
        ),
        "inter-rater agreement": (
            r"\binter-?(?:rater|annotator|coder)\b|\bcohen[’']?s kappa\b|\bfleiss\b"
        ),
        "regularisation": r"\bregulari[sz]\w+|\bdropout\b|\bearly stopping\b",
        "data augmentation": r"\bdata augment\w+|\baugmentation\b",
        "transfer or adaptation to a new domain": r"\btransfer learning\b|\bdomain adapt\w+",
        "an ensemble": r"\bensembl\w+",
        "a mixed-effects model": (
            r"\bmixed[- ]effects?\b|\bhierarchical (?:bayes\w*+|model(?:s|ing)?)\b|\bmultilevel\b"
        ),
        "correction for multiple comparisons": (
            r"\bbonferroni\b|\bfalse discovery\b|\bmultiple (?:comparison|testing)s?\b|\bFDR\b"
        ),
        "control of confounding": (
            r"\bconfound\w+|\bpropensity\b|\bcovariate (?:adjust|balanc)\w+"
        ),
        "sensitivity analysis": (
            r"\bsensitivity analys[ie]s\b|\brobustness (?:check|analys[ie]s)\w*"
        ),
        "long-term follow-up": r"\blongitudinal\w*|\bfollow-up\b|\blong-term\b",
        "replication": r"\breplicat(?:e|es|ed|ion|ions)\b|\breproducib\w+",
        "handling of class imbalance": (
            r"\b(?:class|data) imbalance\w*|\bimbalanced\b|\blong-tail(?:ed)?\b"
        ),
        "handling of missing data": (
            r"\bmissing (?:data|value|modalit)\w*|\bimput(?:e|ed|ation)\b"
        ),
        "a fairness or bias audit": r"\bfairness\b|\bdebias\w*|\bdemographic bias\b",
        "theoretical guarantees": (
            r"\btheoretical (?:guarantee|analys[ie]s|bound)\w*|\bconvergence"
            r" (?:guarantee|rate|proof)\w*|\bregret bounds?\b"
        ),
        "an efficiency comparison": (
            r"\b(?:computational|memory|inference)"
            r" (?:cost|complexity|overhead|time|efficiency)\b|\blatency\b|\bspeed-?ups?\b"
        ),
        "interpretability analysis": r"\binterpretab\w+|\bexplainab\w+|\bsaliency\b",
        "tests against simulated ground truth": (
            r"\bground[- ]truth\b|\bsimulated data\b|\bsynthetic data\b"
        ),
    }.items()
}
"""Patterns of the wording of research practices."""
