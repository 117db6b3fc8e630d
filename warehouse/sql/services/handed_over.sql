update submissions set request = null where job_id = :job_id
