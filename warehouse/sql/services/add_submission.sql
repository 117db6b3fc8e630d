insert into submissions (job_id, token_id, idempotency_key, content_sha256, request, charge_usd)
values (:job_id, :token_id, :idempotency_key, :content_sha256, :request, :charge_usd)
