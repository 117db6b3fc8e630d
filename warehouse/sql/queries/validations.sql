-- Expectations held against a run, broken ones first.
select * from validations where run_id = $run_id order by success, severity, table_name, column_name, expectation
