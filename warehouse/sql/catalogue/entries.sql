-- All that SQLite knows of in a file: tables, indexes, and what runs by itself.
select type, name, rootpage, sql from sqlite_master
