-- One value as text, because a time may be out of Python's range.
(select [min("{column}"), max("{column}")]::varchar[] from "{table}") as "{column}"
