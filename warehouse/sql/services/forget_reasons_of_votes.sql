update records set record = json_set(record, '$.reason', null)
where table_name = 'human_votes' and json_extract(record, '$.voter') = :voter
