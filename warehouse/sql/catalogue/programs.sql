-- Entries that SQLite runs by itself or passes on: all but tables and indexes.
select type, name from sqlite_master
where
    sql is not null
    and sql not like 'create table %'
    and sql not like 'create index %'
    and sql not like 'create unique index %'
limit 1
