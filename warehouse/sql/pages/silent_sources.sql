-- Sources that answered none of at least three requests of a run, with the most frequent cause in the source's words.
with sources as (
  select run_id, source, count(*) as requests
  from api_calls
  where list_contains($run_ids, run_id) and not cache_hit
  group by run_id, source
  having count(*) >= 3 and count(failure_reason) = count(*)
),
causes as (
  select run_id, split_part(detail, ' ', 1) as source, mode(regexp_replace(detail, '^\S+ \S+: ', '')) as cause
  from failures
  where list_contains($run_ids, run_id)
  group by run_id, source
)
select run_id, source, requests, cause
from sources left join causes using (run_id, source)
order by run_id, source
