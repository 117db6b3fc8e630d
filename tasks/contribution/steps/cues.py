"""Cues in wording: what kind of contribution a sentence claims, whether it claims one, and whose
work it speaks of.
"""

from dataclasses import dataclass

from schemas.patterns import Pattern
from tasks.text.cues import any_of


@dataclass(frozen=True, slots=True)
class DimensionCues:
    """A kind of contribution, the wording that claims it, and the headings under which it usually
    stands.
    """

    name: str
    wording: Pattern
    headings: Pattern


DIMENSIONS: tuple[DimensionCues, ...] = (
    DimensionCues(
        "Methodology",
        any_of(
            r"methods? approach(?:es)?\b algorithms? architectures? models? modell?ing"
            r" train(?:s|ing|ed)? objectives? "
            r"loss(?:es)?\b procedures? techniques? modules? optimi[sz] fine-tun encod(?:e|ing)"
            r" decod(?:e|ing) estimat "
            r"learn(?:s|ing)?\b embed(?:s|ding) mechanisms? pipelines? strateg(?:y|ies) simulat"
            r" protocols? assays? "
            r"sequencing imaging regression classif(?:y|ier) infer(?:ence|ring)?\b"
        ),
        any_of(r"method approach technical model algorithm solution"),
    ),
    DimensionCues(
        "Theory",
        any_of(
            r"theor(?:y|ies|em|ems|etical|etically)\b prov(?:e|es|ing)\b proofs? lemmas? bounds?\b"
            r" deriv(?:e|es|ing|ation) "
            r"formali[sz] formulat mathematical guarantees? convergence closed-form axioms?"
            r" asymptotic regret equilibri "
            r"principled manifold"
        ),
        any_of(r"theor formal math"),
    ),
    DimensionCues(
        "Data",
        any_of(
            r"data-?sets? corpus corpora collect(?:s|ing|ed|ion)?\b annotat curat recordings?"
            r" measurements? surveys? "
            r"samples? specimens? cohorts? field-?work databases? crowd-?sourc labell?(?:ed|ing|s)"
            r" records? sites? archives? "
            r"repositor"
        ),
        any_of(r"data dataset corpus collection sampl"),
    ),
    DimensionCues(
        "Evaluation",
        any_of(
            r"evaluat benchmark metrics? baselines? compar(?:e|es|ed|ing|ison) ablation user.stud"
            r" cross-validat validat "
            r"assess human.rat test(?:s|ed|ing)?\b statistical accuracy significance"
            r" measur(?:e|es|ed|ing)\b"
        ),
        any_of(r"experiment evaluat validation metric ablation baseline benchmark"),
    ),
    DimensionCues(
        "Tool or system",
        any_of(
            r"systems?\b tools?\b toolkits? software platforms? librar(?:y|ies)\b open-source"
            r" interfaces? prototypes? deploy "
            r"devices? infrastructure implement(?:s|ing|ation)? web-?(?:site|app) package\b"
        ),
        any_of(r"system tool implementation software platform"),
    ),
    DimensionCues(
        "Conceptual framework",
        any_of(
            r"framework taxonom concept(?:s|ual|uali[sz]e)?\b defin(?:e|es|ing|ition|itions)\b"
            r" perspectives? paradigms? "
            r"refram(?:e|ing) unif(?:y|ied|ies|ying) typolog notion principles?\b criteria rethink"
        ),
        any_of(r"framework concept definition taxonomy"),
    ),
    DimensionCues(
        "Empirical findings",
        any_of(
            r"hypothes[ei] investigat examin understand(?:ing)?\b whether reveal(?:s|ing)?"
            r" effects?\b relationship correlat "
            r"role\b influenc determin(?:e|es|ing)\b mechanis(?:m|ms|tic) explain(?:s|ing)?"
            r" associat characteri[sz] "
            r"identif(?:y|ies|ying) variation uncover"
        ),
        any_of(r"hypothes question analys finding aim objective"),
    ),
    DimensionCues(
        "Application",
        any_of(
            r"appl(?:y|ies|ying|ication|ications)\b real-world clinical practical practitioners"
            r" domains?\b use.cases? "
            r"industr downstream patients? policy conservation management therapeutic diagnos"
            r" education deployment"
        ),
        any_of(r"application use impact case"),
    ),
)
"""In order of precedence when a sentence fits several equally."""
