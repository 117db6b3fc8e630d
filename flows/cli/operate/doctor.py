"""`assay doctor`: checks of configuration and services, with remedies."""

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, print_answer
from flows.cli.options import Json
from flows.cli.output import print_table, stdout_console
from flows.cli.terminal import safe
from flows.profiles import load_profile
from schemas.options.commands import DoctorOptions
from schemas.settings import Settings


def doctor(options: DoctorOptions, json: Json = False) -> int:
    """Check every part that Assay uses; exit 1 when a configured part does not work."""
    from flows.run.preflight import examine

    statuses = examine(
        options.warehouse.resolve(),
        options.engine,
        options.api_base,
        load_profile(options.profile),
        Settings(),
    )
    broken_parts = [one for one in statuses if one.state == "broken"]
    missing_parts = [one for one in statuses if one.state == "missing"]
    if json:
        warnings = [f"{one.part}: {one.detail}; {one.remedy}" for one in broken_parts]
        print_answer("broken" if broken_parts else "ok", statuses, warnings=warnings)
    else:
        print_table(
            ["part", "state", "what", "how to mend it"],
            [[one.part, one.state, one.detail, one.remedy] for one in statuses],
        )
        for each in (*broken_parts, *missing_parts):
            line = f"{each.part} is {each.state}: {each.remedy}"
            stdout_console().print(safe(line), markup=False, highlight=False, soft_wrap=True)
    return EXIT_FAILURES if broken_parts else EXIT_DONE
