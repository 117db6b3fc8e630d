"""Cues in wording: what kind of contribution a sentence claims, whether it claims one, and whose work it speaks of."""

from dataclasses import dataclass

from schemas.patterns import IGNORECASE, Pattern, bounded


@dataclass(frozen=True, slots=True)
class DimensionCues:
    """A kind of contribution, the wording that claims it, and the headings under which it usually stands."""

    name: str
    wording: Pattern
    headings: Pattern


def _any(expressions: str) -> Pattern:
    return bounded(rf"\b(?:{'|'.join(expressions.split())})", IGNORECASE)


DIMENSIONS: tuple[DimensionCues, ...] = (
    DimensionCues(
        "Methodology",
        _any(
            r"methods? approach(?:es)?\b algorithms? architectures? models? modell?ing train(?:s|ing|ed)? objectives? "
            r"loss(?:es)?\b procedures? techniques? modules? optimi[sz] fine-tun encod(?:e|ing) decod(?:e|ing) estimat "
            r"learn(?:s|ing)?\b embed(?:s|ding) mechanisms? pipelines? strateg(?:y|ies) simulat protocols? assays? "
            r"sequencing imaging regression classif(?:y|ier) infer(?:ence|ring)?\b"
        ),
        _any(r"method approach technical model algorithm solution"),
    ),
    DimensionCues(
        "Theory",
        _any(
            r"theor(?:y|ies|em|ems|etical|etically)\b prov(?:e|es|ing)\b proofs? lemmas? bounds?\b deriv(?:e|es|ing|ation) "
            r"formali[sz] formulat mathematical guarantees? convergence closed-form axioms? asymptotic regret equilibri "
            r"principled manifold"
        ),
        _any(r"theor formal math"),
    ),
    DimensionCues(
        "Data",
        _any(
            r"data-?sets? corpus corpora collect(?:s|ing|ed|ion)?\b annotat curat recordings? measurements? surveys? "
            r"samples? specimens? cohorts? field-?work databases? crowd-?sourc labell?(?:ed|ing|s) records? sites? archives? "
            r"repositor"
        ),
        _any(r"data dataset corpus collection sampl"),
    ),
    DimensionCues(
        "Evaluation",
        _any(
            r"evaluat benchmark metrics? baselines? compar(?:e|es|ed|ing|ison) ablation user.stud cross-validat validat "
            r"assess human.rat test(?:s|ed|ing)?\b statistical accuracy significance measur(?:e|es|ed|ing)\b"
        ),
        _any(r"experiment evaluat validation metric ablation baseline benchmark"),
    ),
    DimensionCues(
        "Tool or system",
        _any(
            r"systems?\b tools?\b toolkits? software platforms? librar(?:y|ies)\b open-source interfaces? prototypes? deploy "
            r"devices? infrastructure implement(?:s|ing|ation)? web-?(?:site|app) package\b"
        ),
        _any(r"system tool implementation software platform"),
    ),
    DimensionCues(
        "Conceptual framework",
        _any(
            r"framework taxonom concept(?:s|ual|uali[sz]e)?\b defin(?:e|es|ing|ition|itions)\b perspectives? paradigms? "
            r"refram(?:e|ing) unif(?:y|ied|ies|ying) typolog notion principles?\b criteria rethink"
        ),
        _any(r"framework concept definition taxonomy"),
    ),
    DimensionCues(
        "Empirical findings",
        _any(
            r"hypothes[ei] investigat examin understand(?:ing)?\b whether reveal(?:s|ing)? effects?\b relationship correlat "
            r"role\b influenc determin(?:e|es|ing)\b mechanis(?:m|ms|tic) explain(?:s|ing)? associat characteri[sz] "
            r"identif(?:y|ies|ying) variation uncover"
        ),
        _any(r"hypothes question analys finding aim objective"),
    ),
    DimensionCues(
        "Application",
        _any(
            r"appl(?:y|ies|ying|ication|ications)\b real-world clinical practical practitioners domains?\b use.cases? "
            r"industr downstream patients? policy conservation management therapeutic diagnos education deployment"
        ),
        _any(r"application use impact case"),
    ),
)
"""In order of precedence when a sentence fits several equally."""

CLAIM = _any(
    r"we\b our\b this\s(?:work|paper|study|project|idea|plan|approach|research) i\s(?:will|propose) will\b would\b propos aims?\b novel "
    r"the\sfirst\b innovat contribut hypothes goal\b (?:develop|design|create|build|implement|use|train|apply)\s(?:a|an|the)\b"
)
NOVELTY = _any(
    r"novel new\b the\sfirst\b innovat core contribut unlike beyond propos introduc hypothesis unified key\b instead rather\sthan"
)
GAP = _any(
    r"limitations? limited fail(?:s|ed|ing)?\b lack(?:s|ing)?\b remains?\b challeng however traditional(?:ly)? existing "
    r"previous(?:ly)? prior\swork current(?:ly)? despite poorly\sunderstood problem\sis struggle while\s"
)
BACKGROUND = _any(r"problem background motivation introduction related prior context gap limitation")
"""Headings under which an idea mostly speaks of others."""
OWN_WORK = _any(
    r"we\s(?:propose|present|introduce|develop|show|study|describe|report|investigate|design|find|demonstrate) "
    r"we\s(?:evaluate|build|collect|release|prove) (?:this|the\spresent)\s(?:paper|work|article|study) "
    r"our\s(?:method|approach|model|framework|system|algorithm|results)"
)
DEPENDENT = bounded(
    r"^(?:this|these|those|they|it|its|their|such|he|she|here|there|then|finally|additionally|furthermore|moreover)\b", IGNORECASE
)
"""A sentence that leans on the one before it."""
