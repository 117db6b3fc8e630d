"""A review as JSON: its first page, then everything it is made of."""

from pydantic import TypeAdapter

from dashboards.reports.first_page import FirstPage
from schemas.base import Noun
from warehouse.answers import IdeaReview


class ReviewFile(Noun):
    """What the JSON of one review holds; its schema is that of the data dictionary's nouns."""

    first_page: FirstPage
    review: IdeaReview


def json_file(reviews: list[ReviewFile]) -> str:
    """A list of reviews, one per idea."""
    return TypeAdapter(list[ReviewFile]).dump_json(reviews, indent=2).decode() + "\n"
