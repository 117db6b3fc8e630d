-- defect: wrong
-- The titles of two papers stand at each other's abstract.
with odd as (
  select number, title, title_stems, abstract_stems, fit(title_stems, abstract_stems) as own
  from papers
  where len(title_stems) >= 3 and len(abstract_stems) >= 15 and fit(title_stems, abstract_stems) <= 0.5
),
told as (select number, unnest(title_stems) as stem from odd),
rare as (select stem from told group by stem having count(*) <= 1000),
candidates as (
  select told.number as one, held.number as other
  from told
  join rare using (stem)
  join (select number, unnest(abstract_stems) as stem from odd) held using (stem)
  where told.number <> held.number
  group by all
  having count(*) >= 2
),
pairs as (
  select
    one.number as one, other.number as other, other.title as title, one.title as old,
    fit(one.title_stems, other.abstract_stems) as there, fit(other.title_stems, one.abstract_stems) as here,
    one.own + other.own as own
  from candidates
  join odd one on one.number = candidates.one
  join odd other on other.number = candidates.other
)
select
  one as number, 'title' as field, 'set' as action, to_json(old)::varchar as old, to_json(title)::varchar as new,
  format('{:.0f} % of the words of this title stand in its abstract, and {:.0f} % of its own title in the other abstract',
    100 * here, 100 * there) as evidence,
  least(0.98, (here + there) / 2 - own / 4) as confidence
from pairs
where here >= 0.5 and there >= 0.5 and here + there - own >= 0.6
qualify row_number() over (partition by one order by here + there desc, other) = 1
