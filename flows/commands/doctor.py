"""`assay doctor`: what is configured, reachable and missing, and how to mend it."""

from flows.commands.options import Json
from schemas.options import DoctorOptions
from schemas.settings import Settings


def doctor(options: DoctorOptions, json: Json = False) -> int:
    """Look at every part Assay leans on; exit 1 when a configured part does not work."""
    from flows.commands.output import print_json, print_table
    from flows.preflight import examine
    from flows.profiles import load_profile

    statuses = examine(
        options.warehouse.resolve(),
        options.engine,
        options.api_base,
        load_profile(options.profile),
        Settings(),
    )
    if json:
        print_json(statuses)
    else:
        print_table(
            ["part", "state", "what", "how to mend it"],
            [[one.part, one.state, one.detail, one.remedy] for one in statuses],
        )
    return 1 if any(one.state == "broken" for one in statuses) else 0
