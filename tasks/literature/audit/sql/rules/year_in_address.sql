-- defect: wrong
-- The record's DOI or page names a year; for addresses of this form the year of the paper follows from it, and next to no
-- paper is as far from it as this one: where many come out a year later, that is how such addresses are.
with addressed as (
  select number, year, form(address) as form, address, year_in(address) as named
  from (select number, year, unnest([doi, url]) as address from papers)
  where year_in(address) is not null
),
counted as (
  select form, year - named as later, count(*) as papers
  from addressed
  where year is not null
  group by all
),
told as (
  select form, arg_max(later, papers) as later, sum(papers) as papers, max(papers) / sum(papers) as share
  from counted
  group by form
  having sum(papers) >= 5 and max(papers) / sum(papers) >= 0.8
)
select
  number, 'year' as field, 'set' as action, to_json(year)::varchar as old, to_json(named + told.later)::varchar as new,
  format('{} names {}, and of {} such addresses {:.0f} % follow the same rule', address, named, told.papers, 100 * share)
    as evidence,
  share as confidence
from addressed
join told on told.form = addressed.form
left join counted on counted.form = addressed.form and counted.later = year - named
where year is distinct from named + told.later and coalesce(counted.papers, 0) <= greatest(1, told.papers / 50)
qualify row_number() over (partition by number order by share desc, told.form) = 1
