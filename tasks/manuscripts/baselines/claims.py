"""Is there support of the kind that a claim needs: a proof, a test, a sample size?"""

import re
from collections.abc import Iterator

from tasks.manuscripts.baselines.reading import Finding, Reading, shown

_WE_PROVE = re.compile(r"\bwe (?:prove|establish (?:a|the) (?:theorem|bound))\b", re.IGNORECASE)
_PROOF = re.compile(r"\bproofs?\b(?! of (?:concept|principle))|\\begin\{proof\}|\bq\.?e\.?d\b|□|∎|\\qed", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"\bproofs?\b[^.]{0,60}\b(?:is|are)\s+(?:omitted|left (?:out|to the (?:interested )?reader)|skipped)"
    r"|\bwe (?:omit|skip) (?:the|its|their) proofs?\b",
    re.IGNORECASE,
)
_SIGNIFICANT = re.compile(
    r"\bstatistically significant(?:ly)?\b|\bsignificant(?:ly)? (?:difference|increase|decrease|effect|correlat\w+|associat\w+)\b",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"\bp\s*(?:-?\s*values?)?\s*[<>=≤]|\bt-?test|\banova\b|\bwilcoxon|\bmann.whitney|\bchi.?squared?|χ"
    r"|\bconfidence intervals?\b|\b95\s*\\?%\s*CI|\bbootstrap"
    r"|\bstandard (?:error|deviation)s?\b|\bpermutation test|\bbayes factor|\bregression\b|\bp-?values?\b|\bsigma\b|σ",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:participants|patients|subjects|respondents|volunteers)\b[^.]{0,60}\b(?:were|completed|received|underwent|rated|took part)\b",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    r"\bn\s*=\s*\d|\b\d[\d,]*\s+(?:\w+\s+){0,4}(?:participants|patients|subjects|respondents|volunteers|people|students|adults|children|men|women)\b"
    r"|\b(?:ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred)\b[^.]{0,30}\b(?:participants|patients|subjects|respondents|volunteers|people)\b",
    re.IGNORECASE,
)


def check_claims(reading: Reading) -> Iterator[Finding]:
    """Claims whose support is missing from the whole manuscript, and proofs that were left out."""
    yield from _unsupported(reading, _WE_PROVE, _PROOF, "proof", "The text claims to prove a result, and contains no proof.")
    yield from _unsupported(
        reading, _SIGNIFICANT, _TEST, "significance", "A difference is called significant, and no test, p-value or interval is reported."
    )
    yield from _unsupported(reading, _PEOPLE, _SAMPLE, "sample_size", "People were studied, and their number is nowhere stated.")
    for placed in reading.sentences:
        if _LEFT_OUT.search(placed.sentence):
            problem = "A proof on which the text relies is left out."
            yield Finding("proof_left_out", 3, problem, placed.location, f"“{shown(placed.sentence)}”")


def _unsupported(reading: Reading, claim: re.Pattern[str], support: re.Pattern[str], kind: str, problem: str) -> Iterator[Finding]:
    if support.search(reading.text):
        return
    for placed in reading.sentences:
        if claim.search(placed.sentence):
            yield Finding(kind, 2, problem, placed.location, f"“{shown(placed.sentence)}”")
