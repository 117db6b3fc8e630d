"""Experiments: what is found of a task, by which figures, and how the best program differs."""

import polars
import streamlit as st

from dashboards.app import charts, empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures
from dashboards.views.write_experiment import ExperimentPart, experiment_parts
from schemas.identifiers import RunId
from schemas.works.experiment import Fate, Program, Role
from schemas.works.experiment_run import EXPERIMENTS, ExperimentHead
from warehouse.queries import Queries
from warehouse.units.kind import kind_of


def show(lake: Lake) -> None:
    """One run of experiments, one of its tasks: finding, programs, patch, and what failed."""
    heads = lake.heads(kind_of(EXPERIMENTS))
    if not heads:
        empty.show(
            "No task has been experimented on here yet.",
            f"assay experiment run my-task --warehouse {lake.warehouse.address}",
        )
        return
    chosen = state.choose(
        "Run", list(heads), key="experiment", shown=lambda name: _title(heads[name])
    )
    found = {part.experiment.task_id: part for part in lake.ask(_parts, RunId(chosen))}
    part = found[state.choose("Task", list(found), key="task")]
    st.markdown(text.prose(part.experiment.question))
    if part.experiment.finding is None:
        st.warning(text.line(f"Nothing was measured: {part.experiment.unscored_detail}."))
    else:
        _found(part)
    _failures(part)


def _parts(queries: Queries, run_id: RunId) -> tuple[ExperimentPart, ...]:
    return experiment_parts(queries.connection, run_id)


def _title(head: ExperimentHead) -> str:
    count = figures.counted(head.task_count, "task")
    return f"{head.started_at:%Y-%m-%d %H:%M} · {count} · seed {head.seed}"


def _found(part: ExperimentPart) -> None:
    experiment = part.experiment
    st.markdown(f"**{text.line(f'{part.verdict}: {experiment.because}.')}**")
    st.caption(text.line(f"{experiment.metric}, {experiment.direction.better}; {part.took}."))
    if part.cost:
        st.caption(text.line(f"Models cost {part.cost}."))
    _search(part)
    if part.side_by_side:
        st.subheader("On data that chose nothing", anchor=False)
        _programs(part.side_by_side, "experiment_confirmed")
    if part.patch:
        st.subheader("The best candidate", anchor=False)
        st.code(part.patch, language=None)
    tried = [each for each in experiment.programs if each.role is Role.CANDIDATE]
    st.subheader("Candidates", anchor=False)
    _programs(sorted(tried, key=_best_first), "experiment_candidates")


def _search(part: ExperimentPart) -> None:
    """Gains of the candidates beside those of the baselines, and which was made from which."""
    if part.search is None:
        return
    experiment = part.experiment
    candidates = [each for each in experiment.programs if each.role is Role.CANDIDATE]
    tried = polars.DataFrame(
        [
            {
                "number": number,
                "program": each.program_id,
                "gain": each.gain,
                "low": each.gain_low,
                "high": each.gain_high,
                "made_from": each.parent_program_id,
                "full": "yes" if each.fate in (Fate.COMPARED, Fate.CONFIRMED) else "no",
            }
            for number, each in enumerate(candidates, start=1)
            if each.gain is not None
        ],
        infer_schema_length=None,
    )
    known = polars.DataFrame(
        [
            {"name": "the program to be improved", "gain": 0.0},
            *(
                {"name": each.program_id, "gain": each.gain}
                for each in experiment.programs
                if each.role is Role.BASELINE and each.gain is not None
            ),
        ]
    )
    drawn = charts.gains(tried, known, y_title=f"Gain in {experiment.metric}")
    title = "Gain of each candidate over the program to be improved"
    charts.show(drawn, title, "experiment_search", part.search.description)
    if part.lineage is not None:
        with st.expander("Which program was made from which"):
            st.markdown("\n".join(f"- {text.line(line)}" for line in part.descent))


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
