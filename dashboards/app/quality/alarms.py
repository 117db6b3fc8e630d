"""Whether judges can be believed: labels that are always the same, and winners that stand where
they were shown.
"""

import streamlit as st

from dashboards.app import charts, empty, tables, text
from dashboards.app.data import Lake
from dashboards.views.alarms import judge_alarms
from schemas.run import Run


def banner(lake: Lake, run: Run) -> None:
    """One warning per alarm; nothing when there is none."""
    for sentence in judge_alarms(
        run,
        labels=lake.frame("label_shares", run_ids=[run.run_id]),
        groups=lake.frame("position_bias", run_ids=[run.run_id]),
        thresholds=lake.thresholds,
    ):
        st.warning(text.line(sentence), icon=":material/notification_important:")


def show(lake: Lake, run: Run) -> None:
    """The shares of every label, and the bias of every group."""
    labels = lake.frame("label_shares", run_ids=[run.run_id])
    if labels.is_empty():
        empty.show("No judgement of this run has a label or score.")
    else:
        chart = charts.bars(
            labels.select("judgement", "label", "share", "judgements"),
            x="share",
            y="judgement",
            x_title="Share of scored judgements",
            y_title="Judgement",
            colour="label",
        )
        charts.show(chart, "How often each label was given", "labels_chart")
        st.caption(
            f"An alarm is raised when one label takes {lake.thresholds.collapsed_share:.0%} of"
            f" at least {lake.thresholds.enough} judgements (`ASSAY_ALARMS__COLLAPSED_SHARE`)."
        )
        named = {
            "judgement": "Judgement",
            "label": "Label",
            "judgements": tables.count("Judgements"),
            "share": tables.share("Share"),
        }
        tables.show(labels, named, key="labels")
    st.subheader("Position bias", anchor=False)
    groups = lake.frame("position_bias", run_ids=[run.run_id])
    if groups.is_empty():
        empty.show(
            "This run was not ranked by matches.",
            f"assay rank {run.run_id} --warehouse {lake.warehouse.address}",
        )
        return
    tables.show(
        groups,
        {
            "ranking_id": "Ranking",
            "engine": "Engine",
            "group": "Group",
            "match_count": tables.count("Verdicts"),
            "unscored_match_count": tables.count("Unscored"),
            "position_bias": tables.score(
                "Bias", "Share won by the idea shown first, minus by the second."
            ),
            "order_agreement_0_to_1": tables.share("Alike in both orders"),
        },
        key="bias",
    )
