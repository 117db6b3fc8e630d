select job_id, request from submissions where request is not null order by job_id
