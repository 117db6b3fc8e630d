"""Detection of the resources that a paper used, by citing passages and by names."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.recommendation import ResourceKind
from schemas.text.patterns import IGNORECASE, Match, bounded
from tasks.text.words import sentences

_DATA = bounded(
    r"\b(?:data ?sets?|corpus|corpora|benchmarks?|treebanks?|test ?sets?|training ?sets?|"
    r"shared tasks?|challenge data|test collections?|evaluat\w{0,6} on|train\w{0,4} on|tested on|"
    r"experiments on|results on)\b",
    IGNORECASE,
)
_BASELINE = bounded(
    r"\b(?:baselines?|compar\w{1,8} (?:our |the |it |them |these "
    r"|this )?(?:\w{1,20} ){0,3}(?:with|to|"
    r"against)|outperform\w{0,4}|state[- ]of[- ]the[- ]art|competing|competitors?|better than"
    r"|worse than|"
    r"improv\w{1,6} (?:over|upon)|previous (?:best|methods?|systems?|models?|approaches))\b",
    IGNORECASE,
)
_NAMES_DATA = bounded(
    r"\b(?:data ?sets?|corpus|corpora|benchmark\w{0,3}|treebank|shared task|challenge"
    r"|test collection|"
    r"database|collection of)\b",
    IGNORECASE,
)
_INTRODUCES = bounded(
    r"\b(?:present|introduc|describ|releas|provid|publish|construct|creat|collect|compil"
    r"|annotat)\w{0,5}\b"
    r"|\b(?:build|built)\b",
    IGNORECASE,
)
_EXPERIMENTS = bounded(
    r"\b(?:experiment\w{0,6}|evaluation|results?|data|data ?sets?|set-?up|settings?|baselines?|"
    r"materials?|comparison|analysis|corpus|corpora|implementation)\b",
    IGNORECASE,
)

_NAME = (
    r"\b((?:[A-Z][A-Za-z0-9.\-]{1,24}|[A-Z]{2,12})(?: (?:[A-Z][A-Za-z0-9.\-]{1,24}|\d{1,4})){0,4})"
)
_NAMED_DATA = bounded(
    _NAME + r" (?:data ?sets?|corpus|corpora|benchmarks?|test collection|database|shared task"
    r"|challenge)\b"
    r"|\b((?:[A-Z][A-Za-z]{1,20} ){1,3}Tree ?[Bb]ank(?: \d{1,2}\.\d)?)"
)
_NAMED_MODEL = bounded(
    _NAME + r" (?:(?:language |base |large )?models?|networks?|classifiers?|encoders?|decoders?|"
    r"parsers?|taggers?|transformers?|embeddings|architectures?|checkpoints?)\b"
)
_SETTING = bounded(
    r"\b(learning[- ]rate|(?:mini-?)?batch[- ]size|drop-?out|weight decay|beam (?:size|width)|"
    r"hidden (?:size|units|dimension)|embedding (?:size|dimension)|label smoothing|"
    r"(?:sampling|softmax) temperature|maximum (?:sequence )?length)\b"
    r"(?: (?:rate|size|probability|of|is|was|set|to|at|as|equal|fixed|about|with|=|:)){0,5}"
    r" ?[=:(]? ?(\d{1,6}(?:[.,]\d{1,6})?(?: ?[×x] ?10 ?[-−–^]{0,2} ?\d{1,2}|e[-−–]?\d{1,2})?)",
    IGNORECASE,
)
_COUNTED_SETTING = bounded(
    r"\b(\d{1,7}(?:,\d{3}){0,2}) (epochs|training steps|warm-?up steps|attention heads"
    r"|hidden units)\b",
    IGNORECASE,
)
_NOT_NAMES = frozenset({
    "the", "a", "an", "our", "this", "that", "these", "those", "their", "its", "in", "on", "for",
    "from", "with", "we", "all", "each", "both", "using", "and", "of", "as", "by", "to", "unlike",
    "following", "while", "when", "since",
})  # fmt: skip
_GENERIC = frozenset({
    "english", "chinese", "german", "french", "arabic", "czech", "japanese", "spanish", "large",
    "small", "parallel", "training", "test", "development", "new", "other", "data", "web", "text",
    "table", "section", "tagged", "annotated", "raw", "unlabeled",
})  # fmt: skip
"""Words that are no name of a data set by themselves."""
_WORDS = bounded(r"\w+")
_DIGIT = bounded(r"\d")

STATED, SECTIONED, TITLED = 1.0, 1.5, 0.5
"""Weights of a use: stated in a passage, in a section on experiments, or by a cited title."""


@dataclass(frozen=True, slots=True)
class StatedUse:
    kind: ResourceKind
    weight: float
    quote: str | None
    section: str


@dataclass(frozen=True, slots=True)
class NamedResource:
    """A resource named in a text, with its sentence and, for a setting, its value."""

    kind: ResourceKind
    name: str
    quote: str
    value: str = ""


def named_in(text: str) -> list[NamedResource]:
    """Return the distinct resources named in a text, by kind and in text order."""
    text_sentences = sentences(text)
    quotes_by_kind = (
        (ResourceKind.DATA_SET, _data_sets(text_sentences)),
        (ResourceKind.METRIC, _metrics(text_sentences)),
        (ResourceKind.MODEL, _models(text_sentences)),
    )
    named_things = [
        NamedResource(kind, name, quote)
        for kind, by in quotes_by_kind
        for name, quote in by.items()
    ]
    return [*named_things, *_settings(text_sentences)]


def uses_of(edge: CitationEdge, cited_paper: Paper) -> list[StatedUse]:
    """Return the uses of the cited paper, the strongest passage of each kind.

    A cited paper is a data set where its title names one, and a baseline where a passage compares
    with it.
    """
    kind = ResourceKind.DATA_SET if names_data(cited_paper.title) else ResourceKind.BASELINE
    uses = [
        each for passage in passages(edge) for each in _of_passage(*passage) if each.kind is kind
    ]
    if kind is ResourceKind.DATA_SET:
        uses.append(StatedUse(kind, TITLED, None, ""))
    best: dict[ResourceKind, StatedUse] = {}
    for each in uses:
        if each.kind not in best or each.weight > best[each.kind].weight:
            best[each.kind] = each
    return list(best.values())


def names_data(text: str) -> bool:
    return _NAMES_DATA.search(text) is not None


def introduces_data(sentence: str) -> bool:
    return names_data(sentence) and _INTRODUCES.search(sentence) is not None


def data_sets_in(text: str) -> dict[str, str]:
    """Return the data sets named in a text, each with its first sentence."""
    return _data_sets(sentences(text))


def _data_sets(text_sentences: Iterable[str]) -> dict[str, str]:
    quotes: dict[str, str] = {}
    for sentence in text_sentences:
        for match in _NAMED_DATA.finditer(sentence):
            name = _proper(match)
            if name:
                quotes.setdefault(name, sentence)
    return quotes


def _models(text_sentences: Iterable[str]) -> dict[str, str]:
    """Return models whose names are not common words: `BERT`, `ResNet-50`."""
    quotes: dict[str, str] = {}
    for sentence in text_sentences:
        for match in _NAMED_MODEL.finditer(sentence):
            name = _proper(match)
            if any(not letter.islower() for word in name.split() for letter in word[1:]):
                quotes.setdefault(name, sentence)
    return quotes


def _settings(text_sentences: Iterable[str]) -> list[NamedResource]:
    settings: dict[str, NamedResource] = {}
    for sentence in filter(_DIGIT.search, text_sentences):
        pairs = [(match.group(1), match.group(2)) for match in _SETTING.finditer(sentence)]
        pairs += [(match.group(2), match.group(1)) for match in _COUNTED_SETTING.finditer(sentence)]
        for setting, value in pairs:
            name = setting.lower()
            settings.setdefault(
                name, NamedResource(ResourceKind.HYPER_PARAMETER, name, sentence, value)
            )
    return list(settings.values())


def _proper(match: Match[str]) -> str:
    """Return the name in a match; empty if it names nothing.

    Words that do not belong to the name are removed.
    """
    name = next(group for group in match.groups() if group is not None).strip(" .-")
    words = name.split()
    while words and words[0].lower() in _NOT_NAMES:
        words.pop(0)
    # The first word of a sentence is always capitalized.
    first = match.start() == 0 and len(words) == 1 and words[0][1:].islower()
    generic = all(word.lower() in _GENERIC for word in words)
    return "" if first or generic else " ".join(words)


def metrics_in(text: str) -> dict[str, str]:
    return _metrics(sentences(text))


def _metrics(text_sentences: Iterable[str]) -> dict[str, str]:
    quotes: dict[str, str] = {}
    for sentence in text_sentences:
        words = _WORDS.findall(sentence)
        by_word = _metrics_by_word()
        possible = {name for word in by_word.keys() & set(words) for name in by_word[word]}
        if not possible:  # true of most sentences
            continue
        padded_text = f" {' '.join(words)} "
        for name, (spellings, exceptions) in _known_metrics().items():
            if (
                name not in possible
                or name in quotes
                or any(each in padded_text for each in exceptions)
            ):
                continue
            if any(each in padded_text for each in spellings):
                quotes[name] = sentence
    return quotes


def passages(edge: CitationEdge) -> Iterator[tuple[str, str]]:
    """Return each passage with the heading above it, empty if unknown."""
    contexts = edge.contexts or ()
    sections = edge.sections or ("",) * len(contexts)
    yield from zip(contexts, sections, strict=True)


def plainness(section: str) -> float:
    """Return the weight of a passage under this heading."""
    return SECTIONED if _EXPERIMENTS.search(section) else STATED


def _of_passage(passage: str, section: str) -> Iterator[StatedUse]:
    weight = plainness(section)
    if _BASELINE.search(passage):
        yield StatedUse(ResourceKind.BASELINE, weight, passage, section)
    if _DATA.search(passage):
        yield StatedUse(ResourceKind.DATA_SET, weight, passage, section)


@cache
def _known_metrics() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Names, their spellings, and words next to which they have another meaning.

    They come from `metrics.toml`, normalized by `_plain`.
    """
    file = resources.files(__package__).joinpath("metrics.toml")
    tables: dict[str, dict[str, list[str]]] = tomllib.loads(file.read_text("utf-8"))
    return {
        name: (tuple(map(_plain, spellings)), tuple(map(_plain, tables["unless"].get(name, ()))))
        for name, spellings in tables["metrics"].items()
    }


@cache
def _metrics_by_word() -> dict[str, list[str]]:
    by_word: dict[str, list[str]] = {}
    for name, (spellings, _) in _known_metrics().items():
        for word in {each.split()[0] for each in spellings}:
            by_word.setdefault(word, []).append(name)
    return by_word


def _plain(text: str) -> str:
    """Return the words of a text, surrounded by single blanks."""
    return f" {' '.join(_WORDS.findall(text))} "
