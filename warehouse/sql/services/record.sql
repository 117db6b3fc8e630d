select record from records where table_name = :table_name and record_id = :record_id
