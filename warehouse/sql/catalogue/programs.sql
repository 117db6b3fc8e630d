-- What SQLite runs by itself in a file, or asks somebody else for: all but tables and indexes.
select type, name from sqlite_master
where
    sql is not null
    and sql not like 'create table %'
    and sql not like 'create index %'
    and sql not like 'create unique index %'
limit 1
