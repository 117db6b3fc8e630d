"""Experiments: what is found of a task, by which figures, and how the best program differs."""

import polars
import streamlit as st

from dashboards.app import empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.reports import figures
from dashboards.reports.write_experiment import ExperimentPart
from schemas.experiment import Experiment, Program, Role
from schemas.experiment_run import ExperimentHead
from schemas.identifiers import RunId
from warehouse.experiments import EXPERIMENT_RECORD, EXPERIMENTS
from warehouse.queries import Queries
from warehouse.units.reading import published_heads, published_units


def show(lake: Lake) -> None:
    """One run of experiments, one of its tasks: finding, programs, patch, and what failed."""
    heads = {str(head.run_id): head for head in (lake.ask(_heads) if lake.exists else ())}
    if not heads:
        empty.show(
            "No task has been experimented on here yet.",
            f"assay experiment run my-task --warehouse {lake.layout.root}",
        )
        return
    chosen = state.choose(
        "Run", list(heads), key="experiment", shown=lambda name: _title(heads[name])
    )
    found = {each.task_id: each for each in lake.ask(_experiments, RunId(chosen))}
    task = state.choose("Task", list(found), key="task")
    part = ExperimentPart(found[task])
    st.markdown(text.prose(part.experiment.question))
    if part.experiment.finding is None:
        st.warning(text.line(f"Nothing was measured: {part.experiment.unscored_detail}."))
    else:
        _found(part)
    _failures(part)


def _heads(queries: Queries) -> tuple[ExperimentHead, ...]:
    return published_heads(queries.connection, EXPERIMENTS)


def _experiments(queries: Queries, run_id: RunId) -> tuple[Experiment, ...]:
    return published_units(queries.connection, EXPERIMENT_RECORD, run_id)


def _title(head: ExperimentHead) -> str:
    count = figures.counted(head.task_count, "task")
    return f"{head.started_at:%Y-%m-%d %H:%M} · {count} · seed {head.seed}"


def _found(part: ExperimentPart) -> None:
    experiment = part.experiment
    st.markdown(f"**{text.line(f'{part.verdict}: {experiment.because}.')}**")
    st.caption(text.line(f"{experiment.metric}, {experiment.direction.better}; {part.took}."))
    if part.side_by_side:
        st.subheader("On data that chose nothing", anchor=False)
        _programs(part.side_by_side, "experiment_confirmed")
    if part.patch:
        st.subheader("The best candidate", anchor=False)
        st.code(part.patch, language=None)
    tried = [each for each in experiment.programs if each.role is Role.CANDIDATE]
    st.subheader("Candidates", anchor=False)
    _programs(sorted(tried, key=_best_first), "experiment_candidates")


def _best_first(program: Program) -> tuple[bool, float, str]:
    return program.gain is None, -(program.gain or 0.0), program.program_id


def _programs(programs: list[Program], key: str) -> None:
    frame = polars.DataFrame([_row(each) for each in programs], infer_schema_length=None)
    tables.show(
        frame,
        {
            "program": "Program",
            "fate": "How far it came",
            "mean": "Mean",
            "runs": tables.count("Runs"),
            "gain": "Gain over the parent",
            "low": "From",
            "high": "To",
            "settings": tables.wide("Settings"),
        },
        key=key,
        rows_shown=12,
    )


def _row(program: Program) -> dict[str, object]:
    settings = ", ".join(f"{name} = {value}" for name, value in program.settings.items())
    fate = program.fate.value.replace("_", " ") if program.fate else program.role.value
    return {
        "program": program.program_id,
        "fate": fate,
        "mean": program.mean,
        "runs": program.run_count,
        "gain": program.gain,
        "low": program.gain_low,
        "high": program.gain_high,
        "settings": settings,
    }


def _failures(part: ExperimentPart) -> None:
    if not part.failures:
        return
    st.subheader("Executions without a score", anchor=False)
    for reason, count, said in part.failures:
        st.markdown(f"- {text.line(f'{reason}: {count:,}; the first said: {said}')}")
