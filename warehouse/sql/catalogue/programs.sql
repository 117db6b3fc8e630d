-- What SQLite would run by itself while DuckDB reads or writes a catalogue.
select type, name from sqlite_master where type in ('trigger', 'view') order by type, name
