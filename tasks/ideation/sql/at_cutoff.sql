-- The network as it was on the last day: what papers had named by then, and which of it together.
create temp table mentions as
select number, concept_id, last_day from paper_concepts where last_day <= getvariable('last_day');
set variable three_years_before = (
  select max(last_day) - 30000 from mentions where last_day < 99990000
);
create temp table known as
select
  concept_id, key, name, count(*) as paper_count,
  (count(*) filter (last_day > getvariable('three_years_before') and last_day < 99990000) + 1)
    / (count(*) + 3) as recent_share
from mentions join concepts using (concept_id)
group by all
having count(*) >= (select least_papers from about);
create temp table shared as
select a.concept_id as first, b.concept_id as second, count(*) as shared_count, min(a.last_day) as first_day
from mentions a
join mentions b on a.number = b.number and a.concept_id < b.concept_id
semi join known on known.concept_id = a.concept_id
where b.concept_id in (select concept_id from known)
group by all;
create temp table links as
with both_ways as (
  select first as concept_id, second as neighbour_id, shared_count, first_day from shared
  union all
  select second, first, shared_count, first_day from shared
),
strengths as (select concept_id, sum(shared_count) as strength from both_ways group by concept_id)
select
  l.concept_id, l.neighbour_id, l.shared_count, l.first_day,
  greatest(ln(l.shared_count * (select sum(strength) from strengths) / (a.strength * b.strength)), 0) as lift
from both_ways l
join strengths a on a.concept_id = l.concept_id
join strengths b on b.concept_id = l.neighbour_id
order by l.concept_id, l.neighbour_id;
drop table shared;
create temp table norms as
select concept_id, sqrt(sum(lift * lift)) as norm, count(*) as degree from links group by concept_id
