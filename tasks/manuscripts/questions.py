"""What the steps about manuscripts are asked with."""

from schemas.base import Noun


class ManuscriptQuestion(Noun):
    """A manuscript to be checked. With `attached`, `text` is not shown: the engine gets the PDF itself."""

    title: str
    form: str
    text: str
    attached: bool
    maximum_problems: int


class HitQuestion(Noun):
    """A reported problem, and the authors' own reason."""

    problem: str
    location: str
    explanation: str
    reason: str
