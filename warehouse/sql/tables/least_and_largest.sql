-- One value, as text: a time may be one that Python does not know.
(select [min("{column}"), max("{column}")]::varchar[] from "{table}") as "{column}"
