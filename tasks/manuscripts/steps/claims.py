"""Is there support of the kind that a claim needs: a proof, a test, a sample size?"""

from collections.abc import Iterator

from schemas.patterns import IGNORECASE, Pattern, bounded
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, shown

_WE_PROVE = bounded(r"\bwe (?:prove|establish (?:a|the) (?:theorem|bound))\b", IGNORECASE)
_PROOF = bounded(
    r"\bproofs?\b(?! of (?:concept|principle))|\\begin\{proof\}|\bq\.?e\.?d\b|□|∎|\\qed", IGNORECASE
)
_LEFT_OUT = bounded(
    r"\bproofs?\b[^.]{0,60}\b(?:is|are)\s(?:omitted|left (?:out|to the (?:interested"
    r" )?reader)|skipped)"
    r"|\bwe (?:omit|skip) (?:the|its|their) proofs?\b",
    IGNORECASE,
)
_SIGNIFICANT = bounded(
    r"\bstatistically significant(?:ly)?\b|\bsignificant(?:ly)?"
    r" (?:difference|increase|decrease|effect|correlat\w++|associat\w++)\b",
    IGNORECASE,
)
_TEST = bounded(
    r"\bp\s{0,9}+(?:-?\s{0,9}values?)?\s{0,9}[<>=≤]|\bt-?test|\banova\b|\bwilcoxon|\bmann.whitney|\bchi.?squared?|χ"
    r"|\bconfidence intervals?\b|\b95\s{0,9}\\?%\s{0,9}CI|\bbootstrap"
    r"|\bstandard (?:error|deviation)s?\b|\bpermutation test|\bbayes"
    r" factor|\bregression\b|\bp-?values?\b|\bsigma\b|σ",
    IGNORECASE,
)
_PEOPLE = bounded(
    r"\b(?:participants|patients|subjects|respondents|volunteers)\b[^.]{0,60}\b(?:were|completed|received|underwent|rated|took"
    r" part)\b",
    IGNORECASE,
)
_SAMPLE = bounded(
    r"\bn\s{0,9}=\s{0,9}\d|\b\d[\d,]{0,15}\s{1,9}(?:\w{1,40}\s{1,9}){0,4}(?:participants|patients|subjects|respondents|volunteers|people|students|adults|children|men|women)\b"
    r"|\b(?:ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred)\b[^.]{0,30}\b(?:participants|patients|subjects|respondents|volunteers|people)\b",
    IGNORECASE,
)


def check_claims(reading: Reading) -> Iterator[DetectedProblem]:
    """Claims whose support is missing from the whole manuscript, and proofs that were left out."""
    yield from _unsupported(
        reading,
        _WE_PROVE,
        _PROOF,
        "proof",
        "The text claims to prove a result, and contains no proof.",
    )
    yield from _unsupported(
        reading,
        _SIGNIFICANT,
        _TEST,
        "significance",
        "A difference is called significant, and no test, p-value or interval is reported.",
    )
    yield from _unsupported(
        reading,
        _PEOPLE,
        _SAMPLE,
        "sample_size",
        "People were studied, and their number is nowhere stated.",
    )
    for placed in reading.sentences:
        if _LEFT_OUT.search(placed.sentence):
            problem = "A proof on which the text relies is left out."
            yield DetectedProblem(
                "proof_left_out", 3, problem, placed.location, f"“{shown(placed.sentence)}”"
            )


def _unsupported(
    reading: Reading, claim: Pattern, support: Pattern, kind: str, problem: str
) -> Iterator[DetectedProblem]:
    if support.search(reading.text):
        return
    for placed in reading.sentences:
        if claim.search(placed.sentence):
            yield DetectedProblem(kind, 2, problem, placed.location, f"“{shown(placed.sentence)}”")
