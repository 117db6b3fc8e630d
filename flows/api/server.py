"""`python -m flows.api.server WAREHOUSE HOST PORT GATEWAY`: answer programs until told to stop."""

import sys
from pathlib import Path

from flows.api.application import application
from flows.api.service import open_service
from flows.cli.command_line import log_to_stderr, run_command
from flows.run.environment import prepare_environment
from schemas.people.web_origins import names_of_server
from tasks.web.serving import answer_requests, listen
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse


def serve(warehouse: Warehouse, host: str, port: int, gateway_url: str) -> None:
    """Hand over what was accepted before the service was last stopped or killed, then answer.

    Raises:
        ConfigurationError: what keeps it from starting, in one line.
    """
    settings = warehouse.settings
    prepare_environment(settings.home)
    with ServiceDatabase(warehouse) as database:
        service = open_service(warehouse, database, gateway_url)
        names = names_of_server(host, settings.api.allowed_hosts)
        answer_requests(application(service), listen(host, port), names, settings.api.idle_seconds)


if __name__ == "__main__":
    log_to_stderr()
    place, address, number, gateway = sys.argv[1:]
    sys.exit(run_command(lambda: serve(Warehouse(Path(place)), address, int(number), gateway)))
