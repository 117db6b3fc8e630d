-- Why requests of a run were not answered, by source and reason.
select source, failure_reason as reason, status, count(*) as requests, max(attempt) as most_attempts
from api_calls
where run_id = $run_id and failure_reason is not null
group by source, failure_reason, status
order by requests desc, source, reason
