select record_id, record from records where table_name = :table_name order by position
