"""What an evaluation would take, as `assay plan` says."""

from collections.abc import Mapping

import streamlit as st

from dashboards.reports import figures

_SECONDS_PER_HOUR = 3600.0


def show(plan: Mapping[str, object]) -> None:
    """Requests, calls, tokens, dollars and time of the one idea, before paying."""
    if plan["rejected"]:
        st.warning(
            "Assay would reject this text: it is too short, too long, or holds no idea. Give the"
            " problem, method and experiments."
        )
        return
    cost, hours = plan["cost_usd"], plan["hours"]
    seconds = float(hours) * _SECONDS_PER_HOUR if isinstance(hours, int | float) else None
    tokens = sum(
        value
        for name in ("prompt_tokens", "completion_tokens")
        if isinstance(value := plan[name], int)
    )
    shown = {
        "Expected cost": (
            figures.usd(float(cost)) if isinstance(cost, int | float) else "price unknown"
        ),
        "Model calls": f"{plan['model_calls']:,}",
        "Tokens": figures.count(tokens),
        "Literature requests": f"{plan['literature_requests']:,}",
        "Time": figures.duration(seconds),
    }
    for column, (label, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
        column.metric(label, value)
    st.caption(
        "An estimate of `assay plan`, as if nothing were kept from earlier runs. The time is bound"
        f" by the {plan['bound_by']}."
    )
