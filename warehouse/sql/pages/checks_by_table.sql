-- Checks of a run by table; an empty name: over several tables. Great Expectations answered some or all.
select
  table_name,
  count(*) as checks,
  count(*) filter (where not success) as broken,
  count(great_expectations) as answered,
  max(evaluated_count) as rows_checked,
  coalesce(sum(unexpected_count) filter (where not success), 0)::bigint as unexpected_rows
from validations
where run_id = $run_id
group by table_name
order by broken desc, table_name
