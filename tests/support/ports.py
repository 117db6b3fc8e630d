"""Ports for servers that want to be told theirs."""

import random
import socket


def quiet_port() -> int:
    """A free loopback port that the system gives to nobody who asks for any port: those lie above
    32767 on Linux.
    """
    while True:
        port = random.SystemRandom().randrange(15_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
