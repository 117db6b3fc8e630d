select token_id from submissions where job_id = :job_id
