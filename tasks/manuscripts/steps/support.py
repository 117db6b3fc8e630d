"""Checks of support: proofs, tests and sample sizes of claims, and targets of references."""

from collections import Counter
from collections.abc import Iterator

from schemas.text.patterns import IGNORECASE, MULTILINE, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import DetectedProblem, Reading
from tasks.text.signs import TO_THE_REVIEWER

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
    r"\bstatistically significant(?:ly)? (?:difference|increase|decrease|improvement|effect|better"
    r"|higher|lower)|\b(?:difference|improvement|increase|decrease|effect)s?"
    r" (?:is|are|was|were) statistically significant\b(?! at \d)"
    r"|\bsignificant(?:ly)? (?:differences?|differed|correlat\w++|associated)\b",
    IGNORECASE,
)
_TEST = bounded(
    r"\bp\s{0,9}+(?:-?\s{0,9}values?)?\s{0,9}[<>=≤]|\bt-?test|\banova\b|\bwilcoxon|\bmann.whitney"
    r"|\bchi.?squared?|χ"
    r"|\bconfidence intervals?\b|\b95\s{0,9}\\?%\s{0,9}CI|\bbootstrap"
    r"|\bstandard (?:error|deviation)s?\b|\bpermutation test|\bbayes"
    r" factor|\bregression\b|\bp-?values?\b|\bsigma\b|σ",
    IGNORECASE,
)
_PEOPLE = bounded(
    r"\b(?:participants|patients|subjects|respondents|volunteers)\b[^.]{0,60}\b(?:were|completed"
    r"|received|underwent|rated|took"
    r" part)\b",
    IGNORECASE,
)
_SAMPLE = bounded(
    r"\bn\s{0,9}=\s{0,9}\d|\b\d[\d,]{0,15}\s{1,9}(?:\w{1,40}\s{1,9}){0,4}(?:participants|patients"
    r"|subjects|respondents|volunteers|people|students|adults|children|men|women)\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen"
    r"|twenty|thirty|forty|fifty|sixty"
    r"|hundred)\b[^.]{0,30}\b(?:participants|patients|subjects|respondents|volunteers|people)\b",
    IGNORECASE,
)


_CLAIMS = (
    (_WE_PROVE, _PROOF, "proof", "The text claims to prove a result, and contains no proof."),
    (
        _SIGNIFICANT,
        _TEST,
        "significance",
        "A difference is called significant, and no test, p-value or interval is reported.",
    ),
    (
        _PEOPLE,
        _SAMPLE,
        "sample_size",
        "People were studied, and their number is nowhere stated.",
    ),
)


def check_claims(reading: Reading) -> Iterator[DetectedProblem]:
    """Find claims without support in the manuscript, and omitted proofs."""
    for claim, support, kind, problem in _CLAIMS:
        if not support.search(reading.text):
            for entry in reading.sentences:
                if claim.search(entry.sentence):
                    yield entry.problem(kind, 2, problem)
    for entry in reading.sentences:
        if _LEFT_OUT.search(entry.sentence):
            problem = "A proof on which the text relies is left out."
            yield entry.problem("proof_left_out", 3, problem)


_UNRESOLVED_MARK = bounded(
    r"(?:\b(?:section|sec\.|eq\.|equation|figure|fig\.|table|theorem|lemma|proposition"
    r"|appendix)\s?~?\(?\s?\?\?)|\[\s?\?{1,9}\s?(?:,\s?\?{1,9}\s?){0,99}\]|\(\?\?\)",
    IGNORECASE,
)
_REF = linear(r"\\(?:[cC]ref|[vV]ref|autoref|nameref|eqref|pageref|ref)\*?\s*\{([^{}]+)\}")
_LABEL = linear(r"\\[a-zA-Z]*label\s*\{([^{}]+)\}|label\s*=\s*\{?([\w:.-]+)")
_CITE = linear(r"\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]+)\}")
_BIBITEM = linear(r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*\{([^{}]+)\}")
_ELSEWHERE = bounded(r"^\s*+(?:(?:in|of|from)\s++(?:\[|ref|\()|\[)", IGNORECASE)
_STATEMENTS = "theorem|lemma|proposition|corollary|definition|claim|assumption|conjecture"
_STATEMENT = bounded(
    rf"^[^\S\n]*+(?:\*\*)?({_STATEMENTS})\s{{1,9}}(\d+(?:\.\d+)*)", MULTILINE | IGNORECASE
)
_REFERRED_STATEMENT = bounded(rf"\b({_STATEMENTS})\s(\d+(?:\.\d+)*)", IGNORECASE)
_NUMBERED_EQUATION = bounded(r"\((\d{1,3})\)[ \t]{0,99}$", MULTILINE)
_REFERRED_EQUATION = bounded(r"\b(?:eqs?\.|eqns?\.|equations?)\s?\(\s?(\d{1,3})\s?\)", IGNORECASE)


_FLOATS = tuple(
    (
        kind,
        bounded(rf"^[^\S\n]*+(?:\*\*)?{word}\s{{0,9}}(\d{{1,2}})\b", MULTILINE | IGNORECASE),
        bounded(rf"\b{word}s?\s?(\d{{1,2}})(?![\d.])", IGNORECASE),
    )
    for kind, word in (("table", "table"), ("figure", r"fig(?:ure|\.)"))
)
"""Kinds of floats with the patterns of their captions and mentions."""
_CITES = bounded(
    r"\\[a-zA-Z]{0,20}cite|\[\d{1,3}[],–-]|\bet al\b|\{\{cite"
    r"|\((?:[^()]{0,60}\s)?(?:19|20)\d\d[a-z]?\)"
    r"|\bthere(?:in|of)\b|\[[A-Z]\w{1,12}\]"
)
_NEAR = 40
"""Characters before and after a mention that are searched."""
_FEWEST = 2
"""Least number of items of a kind before a missing one counts: items may be lost in reading."""


def check_unresolved(reading: Reading) -> Iterator[DetectedProblem]:
    """Find `??` and `[?]` in place of a number."""
    for entry in reading.sentences:
        if match := _UNRESOLVED_MARK.search(entry.sentence):
            yield entry.problem(
                "unresolved",
                3,
                f"A reference leads nowhere: “{match.group(0)}”.",
                "What the statement rests on cannot be found.",
            )


def check_labels(reading: Reading) -> Iterator[DetectedProblem]:
    """Find references and citations of a LaTeX source without a label or entry."""
    if not reading.is_latex:
        return
    whole_text = reading.whole
    labels = {name.strip() for pair in _LABEL.findall(whole_text) for name in pair if name}
    entries = {name.strip() for name in _BIBITEM.findall(whole_text)}
    yield from _missing(reading, _REF, labels, "label", "label")
    if entries:
        yield from _missing(reading, _CITE, entries, "citation", "bibliography entry")


def _missing(
    reading: Reading, pattern: Pattern, targets: set[str], kind: str, noun: str
) -> Iterator[DetectedProblem]:
    targets_and_all = targets | {"*"}
    for entry in reading.sentences:
        for match in pattern.finditer(entry.sentence):
            missing = [
                name.strip()
                for name in match.group(1).split(",")
                if name.strip() not in targets_and_all
            ]
            if missing and not any("#" in name for name in missing):
                detail = f"there is no {noun} “{missing[0]}”"
                yield entry.problem(kind, 3, f"The text refers to what is not there: {detail}.")


def check_instructions(reading: Reading) -> Iterator[DetectedProblem]:
    """Find instructions to a reviewer or its model, often set in white on the page."""
    for entry in reading.sentences:
        if TO_THE_REVIEWER.search(entry.sentence):
            yield entry.problem(
                "instructions",
                2,
                "The text tells its reviewer how to judge it.",
                "Whoever prints the page may not see these words. Nothing followed them here; a"
                " paper about such instructions quotes them rightly.",
            )


_ENTRY_NUMBER = bounded(r"^[^\S\n]*+(?:\[(\d{1,3})\]|(\d{1,3})\.)\s", MULTILINE)
_BRACKET_CITATION = bounded(r"(?<![\w\])])\[(\d{1,3})(?:\s?[,–-]\s?\d{1,3}){0,20}\](?!\()")
_FEWEST_ENTRIES = 5
_ENTRIES_FOUND = 0.9
"""Least share of numbers up to the last one; otherwise part of the list was lost."""


def check_reference_list(reading: Reading) -> Iterator[DetectedProblem]:
    """Find citations by a number beyond the list of references."""
    list_text = reading.whole[len(reading.text) :]
    numbers = {int(first or second) for first, second in _ENTRY_NUMBER.findall(list_text)}
    last = max(numbers, default=0)
    if reading.is_latex or len(numbers) < max(_FEWEST_ENTRIES, _ENTRIES_FOUND * last):
        return
    for entry in reading.sentences:
        for match in _BRACKET_CITATION.finditer(entry.sentence):
            if last < int(match.group(1)) <= 2 * last:
                problem = f"The text cites [{match.group(1)}], but the last reference is [{last}]."
                yield entry.problem("missing_reference", 3, problem)


def check_numbers(reading: Reading) -> Iterator[DetectedProblem]:
    """Find references to equations, tables, figures and statements that do not exist."""
    if reading.is_latex:
        return
    text = reading.text
    equations = {int(number) for number in _NUMBERED_EQUATION.findall(text)}
    yield from _beyond_last(reading, "equation", _REFERRED_EQUATION, equations)
    for kind, caption, mention in _FLOATS:
        yield from _beyond_last(
            reading, kind, mention, {int(number) for number in caption.findall(text)}
        )
    statements = {(kind.lower(), number) for kind, number in _STATEMENT.findall(text)}
    counts = Counter(kind for kind, _ in statements)
    for entry in reading.sentences:
        has_citation = _CITES.search(entry.sentence) is not None
        for match in _REFERRED_STATEMENT.finditer(entry.sentence):
            kind, number = match.group(1).lower(), match.group(2)
            text_before = entry.sentence[max(match.start() - _NEAR, 0) : match.start()]
            text_after = entry.sentence[match.end() : match.end() + _NEAR]
            is_foreign = (
                _ELSEWHERE.match(text_after)
                or text_before.rstrip().endswith((",", "[", "("))
                or has_citation
            )
            if counts[kind] >= _FEWEST and (kind, number) not in statements and not is_foreign:
                problem = (
                    f"An argument rests on {kind} {number}, which the manuscript does not state."
                )
                yield entry.problem(f"missing_{kind}", 2, problem)


def _beyond_last(
    reading: Reading, kind: str, mention: Pattern, numbers: set[int]
) -> Iterator[DetectedProblem]:
    """Find mentions beyond the last number; gaps are ignored, as captions may be misread."""
    if len(numbers) < _FEWEST or max(numbers) > 2 * len(numbers) + 2:
        return
    for entry in reading.sentences:
        for match in mention.finditer(entry.sentence):
            if int(match.group(1)) > max(numbers) and not _ELSEWHERE.match(
                entry.sentence[match.end() : match.end() + _NEAR]
            ):
                problem = (
                    f"The text refers to {kind} {match.group(1)}, but the last {kind} is"
                    f" {max(numbers)}."
                )
                yield entry.problem(f"missing_{kind}", 3, problem)
