-- Evaluated expectations of runs, broken ones first.
select *
from validations
where list_contains($run_ids, run_id)
order by success, severity, table_name, column_name, expectation, run_id
