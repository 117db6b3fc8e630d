"""`assay doctor`: what is configured, reachable and missing, and how to mend it."""

from flows.commands.options import Json
from schemas.options import DoctorOptions
from schemas.settings import Settings


def doctor(options: DoctorOptions, json: Json = False) -> int:
    """Look at every part Assay leans on; exit 1 when a configured part does not work."""
    from flows.checks import examine
    from flows.commands.output import print_json, print_table
    from flows.profiles import load_profile

    findings = examine(
        options.warehouse.resolve(),
        options.engine,
        options.api_base,
        load_profile(options.profile),
        Settings(),
    )
    if json:
        print_json(findings)
    else:
        print_table(
            ["part", "state", "what", "how to mend it"],
            [[f.part, f.state, f.detail, f.remedy] for f in findings],
        )
    return 1 if any(finding.state == "broken" for finding in findings) else 0
