-- defect: wrong
-- Year and day of publication contradict each other.
select
  number, 'year' as field, 'set' as action, to_json(year)::varchar as old,
  to_json(left(published, 4)::integer)::varchar as new, 'it was published on ' || published as evidence,
  case when abs(year - left(published, 4)::integer) = 1 then 0.4 else 0.7 end as confidence
from papers
where published is not null and year <> left(published, 4)::integer
