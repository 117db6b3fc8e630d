"""A task small enough to be experimented on within a test."""

from pathlib import Path

TASK = """
question = "Is a number nearer to the target better?"
metric = "error"
direction = "minimise"
explanation = "How far the number lies from the target."
least_difference = 0.5

[trials]
candidates = {candidates}
screening = 1
selection = 5
confirmation = 5

[limits]
seconds = {seconds}
"""
PROGRAM = '''"""Says a number."""

NUMBER = 0.0  # tunable: 0, 10


def solve(given, seed):
    return NUMBER + given["noise"]
'''
EVALUATE = '''"""The target is 10."""


def make(seed, size):
    return {"noise": seed % 7 / 7}, {"target": 10}


def score(given, held, answer):
    error = abs(float(answer) - held["target"])
    return {"error": error, "half": error / 2}
'''
BASELINE = '''"""Says 8."""


def solve(given, seed):
    return 8
'''


def write_task(
    folder: Path,
    *,
    program: str = PROGRAM,
    evaluate: str = EVALUATE,
    candidates: int = 3,
    seconds: float = 30,
    **baselines: str,
) -> Path:
    """A task in `folder`, which is made; baselines by name, or one that says 8."""
    (folder / "baselines").mkdir(parents=True)
    (folder / "task.toml").write_text(TASK.format(candidates=candidates, seconds=seconds))
    (folder / "program.py").write_text(program)
    (folder / "evaluate.py").write_text(evaluate)
    for name, source in (baselines or {"eight": BASELINE}).items():
        (folder / "baselines" / f"{name}.py").write_text(source)
    return folder
