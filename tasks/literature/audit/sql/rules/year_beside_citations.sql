-- defect: wrong
-- The paper cites later works, or earlier works cite it, more than once and in a third of its citations; none of the
-- others contradicts more citations than it does. Nothing here says which year is right.
with dated as (
  select e.citing, e.cited, one.year + 1 < other.year as against
  from (select distinct citing, cited from entries where cited is not null and cited <> citing) e
  join papers one on one.number = e.citing
  join papers other on other.number = e.cited
  where one.year is not null and other.year is not null
),
counted as (
  select number, count(*) as citations, count(*) filter (where against) as against
  from (select citing as number, against from dated union all select cited, against from dated)
  group by number
),
rivals as (
  select mine.number, max(theirs.against) as most
  from (
    select citing as number, cited as partner from dated where against
    union all select cited, citing from dated where against
  ) mine
  join counted theirs on theirs.number = mine.partner
  group by mine.number
)
select
  p.number, 'year' as field, 'none' as action, to_json(p.year)::varchar as old, null as new,
  format('{} of its {} citations lead from an earlier to a later paper', c.against, c.citations) as evidence,
  least(0.9, 0.5 + 0.1 * c.against) as confidence
from counted c
join rivals r using (number)
join papers p using (number)
where c.against >= 2 and c.against * 3 >= c.citations and c.against >= r.most
