"""A warehouse is opened at the door of a process; below it nothing else is passed around."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("flows", "tasks", "schemas", "warehouse", "dashboards")
NAME_THE_ADDRESS = ["schemas/settings.py", "warehouse/move_lake.py"]
DOORS = {
    "dashboards/app/access.py": "a page, which a browser asks for",
    "flows/jobs/job_process.py": "the process of a job",
    "flows/nightly.py": "a deployment",
    "flows/run/campaign.py": "a session of the command line or of Python",
    "flows/run/session.py": "a session of the command line or of Python",
    "flows/run/worker_check.py": "the process of a worker",
    "flows/api/mcp_server.py": "the server's process",
    "flows/api/server.py": "the server's process",
    "tasks/literature/gateway/__main__.py": "the gateway's process",
    "tasks/shards/work.py": "the process of a worker",
}
NO_DOORS_YET = {
    "flows/works/evaluate/runs_of_ideas.py",
    "flows/works/rank/prior.py",
    "warehouse/shared_database.py",
}
"""May only become fewer."""
READS_SETTINGS = re.compile(r"\bSettings\(\)|\bWarehouse\((?!Layout)(?![^\n]*settings)")


def test_only_the_settings_and_a_move_name_the_address_of_a_catalogue() -> None:
    assert [name for name, text in _texts() if "catalogue_url" in text] == NAME_THE_ADDRESS


def test_settings_are_read_at_the_doors_of_processes_alone() -> None:
    reading = {
        name
        for name, text in _texts()
        if not name.startswith("flows/cli/") and READS_SETTINGS.search(text)
    }
    assert reading == NO_DOORS_YET | DOORS.keys()


def test_what_flows_and_dashboards_pass_around_is_a_warehouse() -> None:
    above = (text for name, text in _texts() if name.startswith(("flows/", "dashboards/")))
    assert not [text for text in above if re.search(r"\bLayout\b", text)]


def _texts() -> list[tuple[str, str]]:
    paths = sorted(path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py"))
    assert len(paths) > 100
    return [(path.relative_to(REPOSITORY).as_posix(), path.read_text()) for path in paths]
