-- Published work that Great Expectations has validated.
select distinct run_id, ranking_id
from validations
where great_expectations is not null
