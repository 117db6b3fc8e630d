select job_id from submissions where token_id = :token_id order by job_id desc
