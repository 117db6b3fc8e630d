-- defect: wrong
-- Another source dates the paper otherwise. One year apart, both may be right: a preprint and its publication.
select
  p.number, 'year' as field, 'set' as action, to_json(p.year)::varchar as old, to_json(o.year)::varchar as new,
  format('{} says {}', o.source, o.year) as evidence,
  case when abs(o.year - p.year) = 1 then 0.4 else 0.7 end as confidence
from others o
join papers p using (number)
where o.year <> p.year
