"""`assay doctor`: what is configured, reachable and missing, and how to mend it."""

from flows.commands import options
from flows.request import DEFAULT_PROFILE, DEFAULT_WAREHOUSE
from schemas.choices import EXTRACTIVE
from schemas.settings import Settings


def doctor(
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    engine: options.Engine = EXTRACTIVE.text,
    api_base: options.ApiBase = None,
    profile: options.Profile = DEFAULT_PROFILE,
    json: options.Json = False,
) -> int:
    """Look at every part Assay leans on; exit 1 when a configured part does not work."""
    from flows.checks import examine
    from flows.commands.output import print_json, print_table
    from flows.profiles import load_profile

    findings = examine(warehouse.resolve(), engine, api_base, load_profile(profile), Settings())
    if json:
        print_json(findings)
    else:
        print_table(
            ["part", "state", "what", "how to mend it"],
            [[f.part, f.state, f.detail, f.remedy] for f in findings],
        )
    return 1 if any(finding.state == "broken" for finding in findings) else 0
