"""Which pictures reports carry: what an idea got, and what a run cost."""

from dashboards.render import figures
from dashboards.render.charts.bar_chart import (
    MORE_OR_LESS_NOVEL,
    TEN,
    Measured,
    bar_chart,
)
from dashboards.render.page import Figure
from dashboards.views.idea.idea_page import IdeaPage

_PROFILE_CAPTION = (
    "Wide bars are the modules' scores, narrow ones the methods behind soundness. What is unscored"
    " has no bar."
)
_DIMENSIONS_CAPTION = (
    "Each bar is the mean over the papers an idea was compared with along that dimension; "
    "unscored comparisons count nowhere."
)


def idea_bars(page: IdeaPage) -> tuple[Figure | None, ...]:
    """The profile of an idea's scores, and how new it is along each dimension."""
    return (
        bar_chart(
            "bars-1", "Scores of the modules and methods", _PROFILE_CAPTION, TEN, _profile(page)
        ),
        bar_chart(
            "bars-2",
            "Novelty by dimension",
            _DIMENSIONS_CAPTION,
            MORE_OR_LESS_NOVEL,
            _dimensions(page),
        ),
    )


def _profile(page: IdeaPage) -> list[Measured]:
    score = page.review.score
    modules = (
        ("Soundness", score.soundness_requested, score.soundness_0_to_10),
        ("Contribution", score.contribution_requested, score.contribution_0_to_10),
        ("Committee", score.committee_requested, score.committee_0_to_10),
        ("Novelty", score.novelty_requested, score.novelty_0_to_10),
    )
    found = [Measured("Overall", score.score, figures.mean(score.score))]
    for name, requested, value in modules:
        if requested:
            found.append(Measured(name, value, figures.mean(value)))
        if name == "Soundness":
            for method, review in page.methods:
                given = review.score_0_to_10 if review is not None else None
                said = figures.score(given)
                found.append(Measured(f"Method {method.rank}", given, said, inner=True))
    return found


def _dimensions(page: IdeaPage) -> list[Measured]:
    found = []
    for dimension, review in page.dimensions:
        mean = review.mean_comparison_score if review is not None else None
        found.append(Measured(dimension.name, mean, figures.signed(mean)))
    return found
