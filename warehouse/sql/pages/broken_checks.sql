-- Checks that a run did not hold.
select table_name, column_name, expectation, severity, evaluated_count, unexpected_count, detail, ranking_id
from validations
where run_id = $run_id and not success
order by severity, table_name, column_name, expectation
