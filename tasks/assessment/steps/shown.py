"""What the prompts of the assessment show of an idea's evidence, in short."""

from schemas.base import Noun


class WorkShown(Noun):
    """A work close to the idea, under the key that a reply cites it by."""

    key: str
    title: str
    year: int | None
    overlap: str
    remains: str


class MethodShown(Noun):
    """What the literature says for and against one method of the plan."""

    method: str
    support: str
    against: str


class ConcernShown(Noun):
    """A concern under its key; `weakened` is what evidence says against it."""

    key: str
    point: str
    about: str
    why: str
    weakened: str = ""
    defense: str = ""
