"""What the baselines know about wording: cues of dimensions, of claims, and words too general to mean anything."""

import re
from dataclasses import dataclass
from functools import lru_cache

from tasks.judging.text import content_words, key_phrases, words
from tasks.judging.vocabulary import STOP_WORDS


@dataclass(frozen=True, slots=True)
class DimensionCues:
    """A kind of contribution, the wording that claims it, and the headings under which it usually stands."""

    name: str
    wording: re.Pattern[str]
    headings: re.Pattern[str]


def _any(expressions: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(expressions.split())})", re.IGNORECASE)


DIMENSIONS: tuple[DimensionCues, ...] = (
    DimensionCues(
        "Methodology",
        _any(
            r"methods? approach(?:es)?\b algorithms? architectures? models? modell?ing train(?:s|ing|ed)? objectives? loss(?:es)?\b procedures? "
            r"techniques? modules? optimi[sz] fine-tun encod(?:e|ing) decod(?:e|ing) estimat learn(?:s|ing)?\b embed(?:s|ding) mechanisms? "
            r"pipelines? strateg(?:y|ies) simulat protocols? assays? sequencing imaging regression classif(?:y|ier) infer(?:ence|ring)?\b"
        ),
        _any(r"method approach technical model algorithm solution"),
    ),
    DimensionCues(
        "Theory",
        _any(
            r"theor(?:y|ies|em|ems|etical|etically)\b prov(?:e|es|ing)\b proofs? lemmas? bounds?\b deriv(?:e|es|ing|ation) formali[sz] formulat "
            r"mathematical guarantees? convergence closed-form axioms? asymptotic regret equilibri principled manifold"
        ),
        _any(r"theor formal math"),
    ),
    DimensionCues(
        "Data",
        _any(
            r"data-?sets? corpus corpora collect(?:s|ing|ed|ion)?\b annotat curat recordings? measurements? surveys? samples? specimens? "
            r"cohorts? field-?work databases? crowd-?sourc labell?(?:ed|ing|s) records? sites? archives? repositor"
        ),
        _any(r"data dataset corpus collection sampl"),
    ),
    DimensionCues(
        "Evaluation",
        _any(
            r"evaluat benchmark metrics? baselines? compar(?:e|es|ed|ing|ison) ablation user.stud cross-validat validat assess human.rat "
            r"test(?:s|ed|ing)?\b statistical accuracy significance measur(?:e|es|ed|ing)\b"
        ),
        _any(r"experiment evaluat validation metric ablation baseline benchmark"),
    ),
    DimensionCues(
        "Tool or system",
        _any(
            r"systems?\b tools?\b toolkits? software platforms? librar(?:y|ies)\b open-source interfaces? prototypes? deploy devices? "
            r"infrastructure implement(?:s|ing|ation)? web-?(?:site|app) package\b"
        ),
        _any(r"system tool implementation software platform"),
    ),
    DimensionCues(
        "Conceptual framework",
        _any(
            r"framework taxonom concept(?:s|ual|uali[sz]e)?\b defin(?:e|es|ing|ition|itions)\b perspectives? paradigms? refram(?:e|ing) "
            r"unif(?:y|ied|ies|ying) typolog notion principles?\b criteria rethink"
        ),
        _any(r"framework concept definition taxonomy"),
    ),
    DimensionCues(
        "Empirical findings",
        _any(
            r"hypothes[ei] investigat examin understand(?:ing)?\b whether reveal(?:s|ing)? effects?\b relationship correlat role\b "
            r"influenc determin(?:e|es|ing)\b mechanis(?:m|ms|tic) explain(?:s|ing)? associat characteri[sz] identif(?:y|ies|ying) variation uncover"
        ),
        _any(r"hypothes question analys finding aim objective"),
    ),
    DimensionCues(
        "Application",
        _any(
            r"appl(?:y|ies|ying|ication|ications)\b real-world clinical practical practitioners domains?\b use.cases? industr downstream "
            r"patients? policy conservation management therapeutic diagnos education deployment"
        ),
        _any(r"application use impact case"),
    ),
)
"""In order of precedence when a sentence fits several equally."""

CLAIM = _any(
    r"we\b our\b this\s(?:work|paper|study|project|idea|plan|approach|research) i\s(?:will|propose) will\b propos introduc aims?\b novel "
    r"new\b first\b innovat contribut hypothesis goal\b develop design create build leverag"
)
NOVELTY = _any(r"novel new\b first\b innovat core contribut unlike beyond propos introduc hypothesis unified key\b instead rather\sthan")
GAP = _any(
    r"limitations? limited fail(?:s|ed|ing)?\b lack(?:s|ing)?\b remains?\b challeng however traditional(?:ly)? existing previous(?:ly)? prior\swork "
    r"current(?:ly)? despite poorly\sunderstood problem\sis struggle"
)
OWN_WORK = _any(
    r"we\s(?:propose|present|introduce|develop|show|study|describe|report|investigate|design|find|demonstrate|evaluate|build|collect|release|prove)"
    r" this\s(?:paper|work|article|study) in\sthis\s(?:paper|work|article|study) our\s(?:method|approach|model|framework|system|algorithm|results)"
)
DEPENDENT = re.compile(
    r"^(?:this|these|those|they|it|its|their|such|he|she|here|there|then|finally|additionally|furthermore|moreover)\b", re.IGNORECASE
)

_GENERAL_WORDS = (
    "method methods model models modeling approach framework data dataset datasets experiment experiments experimental evaluate evaluation "
    "evaluating compare compared comparison baseline baselines metric metrics performance result results system systems analysis analyze "
    "task tasks design develop developing development problem problems idea ideas hypothesis question questions key main core important "
    "significant significantly improve improved improving improvement better best effective effectively efficient efficiency demonstrate "
    "achieve achieves ability across address addressing aspect aspects base based challenge challenges capture capturing combine combining "
    "common complex component components comprehensive compute conduct contribution create current define definition determine directly "
    "ensure establish example examine explore extend extensive factor feature features field find focus general goal high higher identify "
    "implement implementation important incorporate increase information introduce introducing issue large larger lead leverage leveraging "
    "level limitation limitations limited low lower measure measures measuring mechanism multiple need number objective objectives obtain "
    "order outcome outperform output part perform popular possible potential previous prior procedure process property proposed purpose "
    "range real related relevant report represent require research robust role scenario scenarios set setting settings show significance "
    "simple single small solution solve standard state step strategy strong strength structure support tackle target technique techniques "
    "term test testing tool train trained training type typical understand understanding unified value values way wide world help enable "
    "enables enabling apply applying application applications allow allows allowing test validate validation assess assessing assessment "
    "experiments state-of-the-art art well-known given input original overall publicly available variety varying various capability capabilities "
    "promising fundamental advanced novel innovation statistical quality accuracy accurate time two three four five total average condition "
    "alone making contain affect affects formalize formulate involve involves observe monitor rate remove replace guarantee carefully "
    "additional additionally operate employ employing sometimes lead receive account expect expected inspired designed begin end "
    "versus beyond entire underlying necessary yield yields superior representative input inputs exclude excluding including leaving consider "
    "considering choose chosen select selected defined define regarding concerning relative related reduce reducing increase increasing making "
    "simulating sharing retaining preserve preserving maintain maintaining produce producing generate generating observe distinguish optimal "
    "configuration appropriate additional certain main particular multiple independent independently rich "
    "conditions case cases group groups change changes collect collected collecting perspective insight insights observed open plan planned"
)
GENERAL = frozenset(stem for word in _GENERAL_WORDS.split() for stem in content_words(word))
"""Stems that nearly every abstract has: sharing them says nothing."""
_NOUNS_IN_ING = frozenset(
    ["learning", "training", "processing", "sampling", "imaging", "planning", "reasoning", "modeling", "modelling", "clustering", "sequencing", "tuning", "pruning", "embedding", "mapping", "encoding", "decoding", "scheduling", "understanding", "ranking", "parsing", "tracking", "rendering", "labeling", "labelling", "bargaining", "engineering", "monitoring", "binding", "signaling", "signalling", "folding", "spiking", "breeding", "grazing", "programming", "prompting", "mining", "forecasting", "hashing", "caching", "filtering", "screening", "matching", "routing", "sensing", "smoothing", "pooling", "computing", "boosting", "fine-tuning", "crowdsourcing", "finding", "thinking", "warming", "nesting", "foraging"]
)
_HANGING = frozenset(["without", "within", "while", "during", "given", "necessary", "versus", "via", "per", "due"])


@lru_cache(maxsize=4096)
def specific_stems(text: str) -> frozenset[str]:
    """The stems of `text` that tell one subject from another."""
    return frozenset(stem for stem in content_words(text) if stem not in GENERAL and not stem.isdigit())


def specific_phrases(text: str, limit: int) -> list[str]:
    """The `limit` best key phrases of two to four words that name something, none a part of another; single words only for want of those."""
    chosen: list[str] = []
    candidates = [_trimmed(phrase) for phrase in key_phrases(text, 40)]
    for phrase in sorted(filter(None, candidates), key=lambda phrase: " " not in phrase and "-" not in phrase):
        stems = specific_stems(phrase)
        if len(chosen) < limit and stems and not any(stems <= specific_stems(other) or specific_stems(other) <= stems for other in chosen):
            chosen.append(phrase)
    return chosen


def _trimmed(phrase: str) -> str:
    """The phrase without what names nothing at its ends: adverbs, general words in front, verbs left hanging behind."""
    parts = [part for part in phrase.split() if not part.endswith("ly")]
    while parts and not specific_stems(parts[0]):
        parts.pop(0)
    while parts and ((parts[-1].endswith("ing") and parts[-1] not in _NOUNS_IN_ING) or parts[-1] in _HANGING):
        parts.pop()
    return " ".join(parts)


def mentions(stems_of_text: frozenset[str], phrase: str) -> bool:
    """Whether a text with these stems speaks of `phrase`: all of its specific stems, or all but one of four and more."""
    wanted = specific_stems(phrase)
    return len(wanted - stems_of_text) <= (1 if len(wanted) > 3 else 0)


def meaningful_words(text: str) -> list[str]:
    """The words of `text` that are neither function words nor general, in order, unstemmed."""
    return [word for word in words(text) if word not in STOP_WORDS and specific_stems(word)]
