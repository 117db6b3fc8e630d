"""Data quality: what was checked before publication, what has no score and why, and whether judges
can be believed.
"""

from dashboards.app import empty, state
from dashboards.app.data import Lake
from dashboards.app.quality import alarms, drift, judges, refused, unscored, validations


def show(lake: Lake) -> None:
    """Runs kept out of the lake first, then one question about the chosen run."""
    if refused.show(lake) and not lake.runs():
        empty.show(
            "No run has been published here yet.",
            f"assay evaluate ideas.jsonl --warehouse {lake.layout.address}",
        )
        return
    run = state.choose_run(lake)
    if run is None:
        return
    state.tell_run(run)
    alarms.banner(lake, run)
    view = state.choose_view("Show", ["Checks", "Unscored", "Drift", "Judges"])
    if view == "Checks":
        validations.show(lake, run)
    elif view == "Unscored":
        unscored.show(lake, run)
    elif view == "Drift":
        drift.show(lake, run)
    else:
        judges.show(lake, run)
        alarms.show(lake, run)
