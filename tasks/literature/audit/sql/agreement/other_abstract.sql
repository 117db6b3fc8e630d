-- defect: wrong
-- The abstract breaks off where another source goes on.
select
  p.number, 'abstract' as field, 'set' as action, to_json(p.abstract)::varchar as old, to_json(o.abstract)::varchar as new,
  format('{} goes on for another {} characters', o.source, length(o.plain_abstract) - length(p.plain_abstract)) as evidence,
  0.85 as confidence
from others o
join papers p using (number)
where length(p.plain_abstract) >= 40 and length(o.plain_abstract) > 1.1 * length(p.plain_abstract)
  and starts_with(o.plain_abstract, p.plain_abstract)
