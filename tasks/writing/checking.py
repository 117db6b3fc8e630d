"""Check of a finished draft: unsupported text, illegible figures and violations of venue rules."""

import unicodedata
from collections.abc import Iterator, Sequence

from schemas.failure import Failure
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, Match, bounded
from schemas.works.draft import (
    DECLARATION_KEY,
    TITLE_KEY,
    ClaimKind,
    Draft,
    DraftSection,
)
from schemas.works.draft_neighbour import SectionPart
from schemas.works.draft_run import PlannedSection, StoredText
from schemas.works.draft_venue import VenueRules
from tasks.citations.sentences import sentences
from tasks.text.quotations import stands_in
from tasks.writing.claims import number_shown
from tasks.writing.figures import draft_failure, faults_in
from tasks.writing.parsing import (
    CITATION,
    CLAIM,
    END,
    ParsedDraft,
    Stretch,
    find_repeated,
    parse,
    words_of,
)

MOST_OWN_WORDS = 4
"""Own words allowed with a claim about a work, as in `As Kay reports:`."""
_OWN_WORDS = (ClaimKind.STATEMENT,)
"""Claims about works that must not use the works' words."""
_SHOWN_CHARACTERS = 80
_CITATION = bounded(rf"{CITATION}(\d{{1,6}}){END}")
_CLAIM = bounded(rf"{CLAIM}(\d{{1,6}}){END}")
_MARK = bounded(rf"[{CITATION}{CLAIM}]\d{{1,6}}{END}")
_TOKEN = bounded(r"\S+")
_NUMBER_WORD = bounded(
    r"\b(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w{1,9})?|two|three|four"
    r"|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|halved"
    r"|halves|twice|thrice|doubled|tripled|quadrupled|(?:two|three|four|five|ten|hundred)fold)\b",
    IGNORECASE,
)


def faults_of(
    sentences: Sequence[str], draft: Draft, stored_texts: Sequence[StoredText]
) -> list[list[str]]:
    """Return the faults of each of `sentences`, in Markdown."""
    checker = _Checker(draft, stored_texts)
    return [[line for _, line in checker.faults(parse(each))] for each in sentences]


def check(draft: Draft, stored_texts: Sequence[StoredText]) -> tuple[Failure, ...]:
    """Return the unsupported content of a draft.

    Every number must be a claim with the claim's value, and every citation must be supported by a
    stored text of the work. Every figure must be referred to. Stored sentences of others may be
    repeated only as quotations. Machine writing must be declared.

    Args:
        stored_texts: texts of other papers.
    """
    parsed_draft, checker = parse(draft.markdown), _Checker(draft, stored_texts)
    lines = [*checker.faults(parsed_draft), *checker.omissions(parsed_draft)]
    return (
        *(draft_failure(heading, Reason.UNTRACED, line) for heading, line in dict.fromkeys(lines)),
        *(
            draft_failure(f"Figure {figure.figure_id}", Reason.ILLEGIBLE, fault)
            for figure in draft.figures
            for fault in faults_in(figure, values_of(draft))
        ),
    )


def values_of(draft: Draft) -> dict[str, float]:
    return {claim.claim_key: claim.value for claim in draft.claims if claim.value is not None}


Line = tuple[str, str]
"""Heading, and message."""


class _Checker:
    def __init__(self, draft: Draft, stored: Sequence[StoredText]) -> None:
        self.claims = {claim.claim_key: claim for claim in draft.claims}
        self.works = {work.cite_key for work in draft.works}
        self.figures = [figure.figure_id for figure in draft.figures]
        self.stored = stored

    def faults(self, parsed_draft: ParsedDraft) -> Iterator[Line]:
        """Yield the unsupported content of a complete or partial text."""
        for stretch in parsed_draft.stretches:
            yield from self._of_stretch(stretch)
        yield from self._repeated(parsed_draft)
        for strange_text in dict.fromkeys(parsed_draft.strange):
            yield "Text", f"{_short(strange_text)} has no place in a draft"
        for target in dict.fromkeys(parsed_draft.links):
            if target not in {f"#fig-{name}" for name in self.figures}:
                yield "Text", f"a link leads to {_short(target)}, which is no figure"
        for target in dict.fromkeys(parsed_draft.images):
            if target not in {f"figures/{name}" for name in self.figures}:
                yield "Text", f"a picture is {_short(target)}, which is no figure"

    def omissions(self, parsed_draft: ParsedDraft) -> Iterator[Line]:
        """Yield the omissions of a complete draft."""
        for name in self.figures:
            if f"figures/{name}" not in parsed_draft.images:
                yield "Figures", f"the figure {name} is not shown"
            if f"#fig-{name}" not in parsed_draft.links:
                yield "Figures", f"the figure {name} is not referred to"
        used_keys = {claim.key for stretch in parsed_draft.stretches for claim in stretch.claims}
        for key, description in (
            (TITLE_KEY, "its title"),
            (DECLARATION_KEY, "what machines wrote"),
        ):
            if key not in used_keys:
                yield "Text", f"the draft does not say {description}: {key}"

    def _of_stretch(self, stretch: Stretch) -> Iterator[Line]:
        for shown_claim in stretch.claims:
            for line in self._of_claim(shown_claim.key, shown_claim.text):
                yield stretch.heading, line
        for number in numbers_in(_MARK.sub(" ", stretch.text)):
            yield stretch.heading, f"the number {_short(number)} is no claim"
        if "{{" in stretch.text or "}}" in stretch.text:
            yield stretch.heading, "a place in braces was not filled in"
        for sentence in sentences(stretch.text):
            for line in self._of_sentence(sentence, stretch):
                yield stretch.heading, line

    def _of_claim(self, key: str, text: str) -> Iterator[str]:
        claim = self.claims.get(key)
        if claim is None:
            yield f"there is no claim {_short(key)}"
        elif text != claim.shown:
            yield f"{_short(text)!r} is not what {key} says: {_short(claim.shown)}"
        elif claim.value is not None and number_shown(claim.value) != claim.shown:
            yield f"{key} is {claim.value!r} and shown as {_short(claim.shown)}"
        elif claim.kind is ClaimKind.QUOTE and not stands_in(claim.shown, claim.passage):
            yield f"{key} does not stand in the stored text: {_short(claim.shown)}"

    def _of_sentence(self, sentence: str, stretch: Stretch) -> Iterator[str]:
        cited_keys = {
            key
            for match in _CITATION.finditer(sentence)
            for key in stretch.citations[int(match[1])]
        }
        claim_keys = (stretch.claims[int(match[1])].key for match in _CLAIM.finditer(sentence))
        claims = [self.claims[key] for key in claim_keys if key in self.claims]
        carried_keys = {key for claim in claims for key in claim.cited_keys}
        for key in sorted(cited_keys - self.works):
            yield f"[@{_short(key)}] is not in the bibliography"
        for key in sorted((cited_keys & self.works) - carried_keys):
            yield f"[@{key}] is cited for what no stored text of it carries"
        for claim in claims:
            for key in sorted({*claim.cited_keys} - cited_keys):
                yield f"{claim.claim_key} is of [@{key}], which is not cited with it"
        own_words = words_of(_MARK.sub(" ", sentence))
        if cited_keys and len(own_words) > MOST_OWN_WORDS:
            yield f"a sentence that cites says more than its claims: {_short(' '.join(own_words))}"

    def _repeated(self, parsed_draft: ParsedDraft) -> Iterator[Line]:
        """Yield repeated words, except in quotes and titles of works."""

        def spelled(stretch: Stretch) -> str:
            def one(match: Match[str]) -> str:
                shown_claim = stretch.claims[int(match[1])]
                claim = self.claims.get(shown_claim.key)
                is_others_wording = (
                    claim is not None and claim.cited_keys and claim.kind not in _OWN_WORDS
                )
                return " \n " if is_others_wording else f" {shown_claim.text} "

            return _CITATION.sub(" ", _CLAIM.sub(one, stretch.text))

        texts = [
            (stretch.heading, part)
            for stretch in parsed_draft.stretches
            for part in spelled(stretch).split("\n")
        ]
        for place, title, words in find_repeated([text for _, text in texts], self.stored):
            yield texts[place][0], f"words of {_short(title)!r} are repeated: {_short(words)}"


def numbers_in(text: str) -> Iterator[str]:
    """Yield numbers in digits of any script, and in words."""
    for token in _TOKEN.finditer(text):
        word = token.group().strip(".,;:!?()[]\"'“”‘’")
        if any(unicodedata.category(sign) in ("Nd", "Nl", "No") for sign in word):
            yield word
    yield from (match.group() for match in _NUMBER_WORD.finditer(text))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def word_count(draft: Draft, heading: str | None = None) -> int:
    """Count the words of a draft, or under one heading, without citations."""
    return sum(
        len(words_of(_MARK.sub(" ", each.text)))
        + sum(len(words_of(shown_claim.text)) for shown_claim in each.claims)
        for each in parse(draft.markdown).stretches
        if heading in (None, each.heading)
    )


def against_rules(draft: Draft, rules: VenueRules) -> tuple[Failure, ...]:
    """Return the violations of the venue's rules."""
    lines = [*outline_faults(draft.sections, rules)]
    limit = rules.abstract_words
    count = word_count(draft, "Abstract")
    if limit is not None and count > limit:
        lines.append(f"the abstract has {count} words, and {rules.venue} allows {limit}")
    return tuple(draft_failure("Venue", Reason.AGAINST_RULES, line) for line in lines)


def outline_faults(
    sections: Sequence[PlannedSection] | Sequence[DraftSection], rules: VenueRules
) -> Iterator[str]:
    """Yield missing sections, and headings that differ from the venue's."""
    parts = {each.part for each in sections}
    for part in rules.required:
        if part not in parts:
            yield f"{rules.venue} asks for a section on {part.value.replace('_', ' ')}"
    if rules.abstract_words is not None and SectionPart.ABSTRACT not in parts:
        yield f"{rules.venue} asks for an abstract"
    for each in sections:
        heading = rules.headings.get(each.part) if each.part is not None else None
        if heading is not None and each.heading != heading:
            yield f"{rules.venue} calls the section {each.heading!r} {heading!r}"
