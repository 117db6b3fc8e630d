-- All entries of an SQLite file: tables, indexes, triggers and views.
select type, name, rootpage, sql from sqlite_master
