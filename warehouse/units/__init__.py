"""Landing, validation and publication of units, for any `Kind`."""
