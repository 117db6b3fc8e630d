"""Object storage, where a lake's files may lie instead of in a folder."""
