select job_id, content_sha256 from submissions
where token_id = :token_id and idempotency_key = :idempotency_key
