"""Safeguards and practices of research that a paper may use and a plan may have forgotten."""

from dataclasses import dataclass

from schemas.patterns import IGNORECASE, Pattern, bounded


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice by name, and the wording that shows a text has it."""

    name: str
    pattern: Pattern


def _practice(name: str, pattern: str) -> Practice:
    return Practice(name, bounded(pattern, IGNORECASE))


PRACTICES: tuple[Practice, ...] = (
    _practice("an ablation", r"\bablat\w+"),
    _practice("cross-validation", r"\bcross[- ]validat\w+"),
    _practice("a control group", r"\bcontrol (?:group|condition|arm)s?\b|\bplacebo\b|\bsham\b"),
    _practice(
        "randomisation", r"\brandomi[sz]ed (?:controlled|trial|assign\w+)|\brandom assignment\b"
    ),
    _practice("blinding", r"\b(?:double|single)[- ]blind(?:ed)?\b|\bblinded\b"),
    _practice("a power analysis", r"\bpower analys[ie]s\b|\bstatistical power\b"),
    _practice("pre-registration", r"\bpre-?regist\w+"),
    _practice(
        "an out-of-distribution test",
        r"\bout[- ]of[- ](?:distribution|domain)\b|\bdistribution(?:al)? shifts?\b|\bdomain"
        r" shifts?\b",
    ),
    _practice(
        "uncertainty estimates",
        r"\buncertaint(?:y|ies) (?:estimat|quantif)\w+|\bcalibrated"
        r" (?:uncertaint|probabilit)\w*|\b(?:confidence|credible) intervals?\b",
    ),
    _practice(
        "human evaluation",
        r"\bhuman (?:evaluat|judg|annotat|rat)\w+|\buser stud(?:y|ies)\b|\bexpert"
        r" (?:evaluat|annotat|review)\w+",
    ),
    _practice(
        "inter-rater agreement",
        r"\binter-?(?:rater|annotator|coder)\b|\bcohen[’']?s kappa\b|\bfleiss\b",
    ),
    _practice("regularisation", r"\bregulari[sz]\w+|\bdropout\b|\bearly stopping\b"),
    _practice("data augmentation", r"\bdata augment\w+|\baugmentation\b"),
    _practice("transfer or adaptation to a new domain", r"\btransfer learning\b|\bdomain adapt\w+"),
    _practice("an ensemble", r"\bensembl\w+"),
    _practice(
        "a mixed-effects model",
        r"\bmixed[- ]effects?\b|\bhierarchical (?:bayes\w*+|model(?:s|ing)?)\b|\bmultilevel\b",
    ),
    _practice(
        "correction for multiple comparisons",
        r"\bbonferroni\b|\bfalse discovery\b|\bmultiple (?:comparison|testing)s?\b|\bFDR\b",
    ),
    _practice(
        "control of confounding", r"\bconfound\w+|\bpropensity\b|\bcovariate (?:adjust|balanc)\w+"
    ),
    _practice(
        "sensitivity analysis", r"\bsensitivity analys[ie]s\b|\brobustness (?:check|analys[ie]s)\w*"
    ),
    _practice("long-term follow-up", r"\blongitudinal\w*|\bfollow-up\b|\blong-term\b"),
    _practice("replication", r"\breplicat(?:e|es|ed|ion|ions)\b|\breproducib\w+"),
    _practice(
        "handling of class imbalance",
        r"\b(?:class|data) imbalance\w*|\bimbalanced\b|\blong-tail(?:ed)?\b",
    ),
    _practice(
        "handling of missing data", r"\bmissing (?:data|value|modalit)\w*|\bimput(?:e|ed|ation)\b"
    ),
    _practice("a fairness or bias audit", r"\bfairness\b|\bdebias\w*|\bdemographic bias\b"),
    _practice(
        "theoretical guarantees",
        r"\btheoretical (?:guarantee|analys[ie]s|bound)\w*|\bconvergence"
        r" (?:guarantee|rate|proof)\w*|\bregret bounds?\b",
    ),
    _practice(
        "an efficiency comparison",
        r"\b(?:computational|memory|inference)"
        r" (?:cost|complexity|overhead|time|efficiency)\b|\blatency\b|\bspeed-?ups?\b",
    ),
    _practice("interpretability analysis", r"\binterpretab\w+|\bexplainab\w+|\bsaliency\b"),
    _practice(
        "tests against simulated ground truth",
        r"\bground[- ]truth\b|\bsimulated data\b|\bsynthetic data\b",
    ),
)
"""In no order of worth; which one is suggested depends on the paper that uses it."""
