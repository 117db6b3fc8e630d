"""Prefect's server on loopback, configured by the environment.

`python -m flows.run.prefect_app PORT`. Requests under another host name, as after DNS rebinding,
are refused.
"""

import os
import sys

import uvicorn
from prefect.server.api.server import create_app
from prefect.settings import get_current_settings
from starlette.middleware.trustedhost import TrustedHostMiddleware

HOST = "127.0.0.1"


def serve(port: int) -> None:
    """Serve until SIGTERM, with Prefect's home as the working directory.

    Prefect's migrations import from the working directory.
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
