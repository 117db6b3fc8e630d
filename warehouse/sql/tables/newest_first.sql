select * from "{table}" order by started_at desc, run_id
