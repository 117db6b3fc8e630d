-- defect: wrong
-- Papers whose addresses differ in their last part alone appeared together: nine in ten of them share the year that this
-- record lacks or contradicts.
with addressed as (
  select number, year as value, series(address) as series
  from (select number, year, unnest([doi, url]) as address from papers)
  where address is not null
),
counted as (
  select series, value, count(distinct number) as papers
  from addressed
  where value is not null
  group by all
),
told as (
  select
    series, arg_max(value, papers) as value, max(papers) as papers, max(papers) / sum(papers) as share
  from counted
  group by series
  having max(papers) >= 5 and max(papers) / sum(papers) >= 0.9
)
select
  p.number, 'year' as field, 'set' as action, to_json(p.year)::varchar as old, to_json(told.value)::varchar as new,
  format('{} papers under {} have it', told.papers, told.series) as evidence, told.share as confidence
from addressed a
join told using (series)
join papers p on p.number = a.number
where p.year is distinct from told.value
qualify row_number() over (partition by p.number order by told.papers desc, told.series) = 1
