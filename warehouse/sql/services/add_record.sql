insert into records (table_name, record_id, record)
values (:table_name, :record_id, :record)
on conflict do nothing
returning position
