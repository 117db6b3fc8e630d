create table if not exists records (
    position integer primary key autoincrement,
    table_name text not null, -- of SERVICE_TABLES in schemas/tables.py
    record_id text not null, -- the table's key
    record text not null, -- the table's noun as JSON
    unique (table_name, record_id)
) strict
