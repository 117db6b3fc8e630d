-- Critical expectations that published work breaks.
select *
from validations
where not success and severity = 'critical'
order by run_id, ranking_id, expectation, table_name, column_name
