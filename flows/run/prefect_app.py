"""`python -m flows.run.prefect_app PORT`: Prefect's server on loopback, for the machine it runs on.

Its settings come from the environment. A web page that reaches it under a name of its own, as DNS
rebinding does, gets no answer.
"""

import os
import sys

import uvicorn
from prefect.server.api.server import create_app
from prefect.settings import get_current_settings
from starlette.middleware.trustedhost import TrustedHostMiddleware

HOST = "127.0.0.1"


def serve(port: int) -> None:
    """Answer until SIGTERM, from Prefect's home: its migrations import from the
    folder they run in.
    """
    os.chdir(get_current_settings().home)
    application = TrustedHostMiddleware(create_app(), allowed_hosts=[HOST])
    uvicorn.run(
        application,
        host=HOST,
        port=port,
        log_level="critical",
        lifespan="on",
        proxy_headers=False,
    )


if __name__ == "__main__":
    serve(int(sys.argv[1]))
