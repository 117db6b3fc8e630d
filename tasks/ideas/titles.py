"""A title for an idea that came without one."""

from schemas.patterns import IGNORECASE, bounded

MAXIMUM_TITLE_CHARACTERS = 120
_HEADING = bounded(r"^ {0,3}#{1,6}\s")
_GENERIC = bounded(
    r"^(?:\d{1,2}[.)]?\s)?(?:"
    r"research"
    r" (?:plan|idea|proposal|problem)|proposal|idea|abstract|summary|introduction|background|overview|title|"
    r"problem(?: statement)?|motivation|(?:proposed )?methods?|methodology|approach|"
    r"experiments?|experiment(?:al)? (?:design|plan|setup)|evaluation plan"
    r")\s?:?$",
    IGNORECASE,
)
_PREFIX = bounded(
    r"^(?:research (?:plan|idea|proposal)|title|idea|proposal)\s?[:\u2013\u2014-]\s(?=\S)",
    IGNORECASE,
)
_SENTENCE_END = bounded(r"(?<=[.!?])\s")
_MARKUP = bounded(r"[*_`#]{1,3}")


def title_of(text: str) -> str:
    """The first heading that says more than `Research Plan` or `Problem`; without one, the first
    sentence.

    At most `MAXIMUM_TITLE_CHARACTERS`, cut between words, the cut shown by `…`.
    """
    prose: list[str] = []
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            name = _PREFIX.sub("", _plain(line[heading.end() :].rstrip().rstrip("#")))
            if name and not _GENERIC.match(name):
                return shortened(name)
        elif not prose and _plain(line) and not _GENERIC.match(_plain(line)):
            prose.append(_plain(line))
    if not prose:
        return shortened(_plain(text))
    return shortened(_PREFIX.sub("", _SENTENCE_END.split(prose[0], maxsplit=1)[0]).rstrip(". "))


def shortened(title: str) -> str:
    """`title` on one line, cut at a word's end."""
    line = " ".join(title.split())
    if len(line) <= MAXIMUM_TITLE_CHARACTERS:
        return line
    cut = line[: MAXIMUM_TITLE_CHARACTERS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[MAXIMUM_TITLE_CHARACTERS // 2 :] else cut).rstrip(
        " ,;:-"
    ) + "…"


def _plain(line: str) -> str:
    return " ".join(_MARKUP.sub("", line[:1000]).split())
