-- What SQLite would run by itself while DuckDB reads or writes a catalogue: the tables of DuckLake
-- have columns and primary keys, and nothing else. In this order, since the columns of a virtual
-- table cannot be asked for without its module.
select type, name from sqlite_master where type in ('trigger', 'view')
union all
select 'virtual table', name from sqlite_master where type = 'table' and rootpage = 0
union all
select 'index', name from sqlite_master where type = 'index' and sql is not null
union all
-- As a word of its own and not as a quoted name.
select 'check of', name from sqlite_master
where type = 'table' and upper(sql) glob '*[^A-Z0-9_]CHECK[^A-Z0-9_"]*'
union all
select 'default or generated column of', m.name
from sqlite_master as m
join pragma_table_xinfo(m.name) as c
where m.type = 'table' and (c.dflt_value is not null or c.hidden > 0)
limit 1
