"""Short keys under which papers are shown in one prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.text.patterns import IGNORECASE, bounded

# Patterns of citations, links and invented references in replies. All patterns run in
# linear time.

_SEPARATOR = r"(?:\s{0,9}+(?:,|;|&|/|\band\b|\bor\b|\+)\s{0,9}+|\s{1,9}+)"
_LEAD = (
    r"(?:(?:see(?:\s{1,9}also)?|e\.\s?g\.|cf\.?|as\s{1,9}in|also|papers?|refs?\.?|references?"
    r"|stud(?:y|ies)|by|from|in)[\s,:]{0,9}+){0,2}"
)
_KEY = (
    r"(?<![\w-])#?[Pp]\s?(?P<first>\d{1,6})(?:\s?[-–—]\s?[Pp]?\s?(?P<last>\d{1,6}))?(?![\w%])"
    r"(?!\.\d)"
)
_KEY_UNNAMED = _KEY.replace("?P<first>", "?:").replace("?P<last>", "?:")

_PROSE_KEYS = rf"(?>{_KEY_UNNAMED})(?>{_SEPARATOR}{_KEY_UNNAMED}){{0,20}}".replace("[Pp]", "P")

KEY = bounded(_KEY)
"""A key or a range of keys: P3, P3-P5, P3–5."""

LOWER_CASE_KEY = bounded(r"(?<!\w)p\s?\d")

ONLY_KEYS = bounded(
    rf"\s{{0,9}}+{_LEAD}{_KEY_UNNAMED}"
    rf"(?:{_SEPARATOR}{_LEAD}{_KEY_UNNAMED}){{0,300}}+\s{{0,9}}+[.,;]?\s{{0,9}}+",
    IGNORECASE,
)
"""Only keys, with the words that introduce them: `P3, P7 and P9`, `see P3`."""

ONLY_AUTHORS_AND_YEARS = bounded(
    r"\s{0,9}(?:(?:see(?:\s{1,9}also)?|e\.\s?g\.|cf\.?)[\s,]{0,9})?"
    r"[^\W\d_a-z][^\s\d;()]{0,40}(?:\s{1,9}(?:and|&|et\s{1,9}al\.?"
    r"|[^\W\d_][^\s\d;()]{0,40})){0,4},?\s{1,9}\(?(?:19|20)\d\d[a-z]?\)?"
    r"(?>\s{0,9}[;,][^;()]{0,120}(?:19|20)\d\d[a-z]?(?=\s{0,9}(?:[;,]|\Z))){0,12}+\s{0,9}"
)
"""An invented reference in a reply: `Smith et al., 2021; Doe and Roe, 2019`."""

BARE_REPORTING = (
    r"(?:(?:further|also|both|all|directly|clearly|explicitly|similarly|likewise|together)\s{1,9})?"
    r"(?:shows?|showed|finds?|found|reports?|reported|demonstrates?|demonstrated|proposes?"
    r"|proposed|introduces?|introduced|argues?|argued|"
    r"suggests?|suggested|observes?|observed|uses?|used|presents?|presented|describes?|described"
    r"|evaluates?|evaluated|examines?|examined|"
    r"stud(?:y|ies|ied)|achieves?|achieved|confirms?|confirmed|supports?|supported|contradicts?"
    r"|contradicted|address(?:es|ed)?|develops?|"
    r"developed|notes?|noted|provides?|provided|applies|apply|applied|investigates?|investigated"
    r"|indicates?|indicated|warns?|warned|"
    r"does|do|did|has|have|had|relies|rely|relied|focus(?:es|ed)?|lacks?|already|covers?|covered"
    r"|combines?|combined)\b"
)

REPLY_TOKEN = bounded(
    r"!?(?<!\\)\[(?P<link_text>(?:\\."
    r"|[^\[\]\\]){0,600})\]\((?P<link_url>[^()\s]{0,2100}(?:\([^()\s]{0,200}\)[^()\s]{0,400})?)"
    r"(?:\s{1,9}[\"'][^\"'\n]{0,300}[\"'])?\)"
    r"|(?<!\\)\[(?P<definition>[^\[\]\n]{1,80})\]:[ \t]{0,9}<?(?:https?://|www\.)[^\s>]{1,2100}>?"
    r"|<?(?P<raw_url>(?:(?:https?|ftp)://|\bwww\.)[^\s<>\[\]]{0,2100}[^\s<>\[\].,;:!?)\"'*_”’»])>?"
    r"|(?P<identifier>(?:\b(?:doi"
    r"|DOI)\s?:\s?)?(?<![\w./])10\.\d{4,9}/[^\s<>\[\]()]{1,200}[^\s<>\[\]().,;:]|\b(?:arXiv|arxiv"
    r"|ARXIV):\s?\d{4}\.\d{4,5}(?:v\d{1,4})?)"
    r"|\\?[\[【](?P<square>[^\[\]【】\\]{1,600})\\?[\]】]"
    r"|(?<!\\)\((?P<round>(?:\\.|[^()\[\]\\]){1,600})\)"
    rf"|(?P<lead>\b(?:[Pp]apers?|[Ss]tud(?:y|ies)|[Rr]efs?\.|[Ss]ee"
    rf"|cf\.)\s{{1,9}})(?P<led>{_PROSE_KEYS})"
    rf"|(?P<bare>{_PROSE_KEYS})(?=(?:'s)?\s{{1,9}}{BARE_REPORTING})",
)
"""A possible citation in a reply.

Alternatives are tried in this order at every position.
"""


@dataclass(frozen=True)
class Shown:
    """The papers of one prompt, in order.

    Keys are valid for that prompt only.
    """

    papers: tuple[Paper, ...]

    @cached_property
    def entries(self) -> tuple[tuple[str, Paper], ...]:
        """Pairs of key and paper in order: ("P1", …), ("P2", …)."""
        return tuple((f"P{number}", paper) for number, paper in enumerate(self.papers, start=1))

    @cached_property
    def _keys(self) -> dict[PaperId, str]:
        return {paper.paper_id: key for key, paper in self.entries}

    def __iter__(self) -> Iterator[tuple[str, Paper]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.papers)

    def key_of(self, paper_id: PaperId) -> str:
        """Return the key of a paper.

        Raises KeyError for one not in the prompt.
        """
        return self._keys[paper_id]

    def paper_at(self, number: int) -> Paper | None:
        """Return the paper with key `P<number>`; None for an unknown key."""
        return self.papers[number - 1] if 1 <= number <= len(self.papers) else None


def show(papers: Sequence[Paper]) -> Shown:
    """Give each paper a key: P1, P2, … in order.

    A repeated paper keeps its first key.
    """
    first: dict[PaperId, Paper] = {}
    for paper in papers:
        first.setdefault(paper.paper_id, paper)
    return Shown(tuple(first.values()))
