-- Requests that a run sent to a source, in all and in its busiest second.
with seconds as (
  select date_trunc('second', created_at) as sent_at, sum(request_share) as sent
  from api_calls
  where run_id = $run_id and source = $source
  group by sent_at
)
select coalesce(sum(sent), 0)::double as sent, coalesce(max(sent), 0)::double as busiest_second
from seconds
