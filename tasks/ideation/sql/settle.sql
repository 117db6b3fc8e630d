-- In the order in which papers are read; a concept that longer ones have swallowed goes.
create table settled as
select number, concept_id, last_day
from paper_concepts
semi join (
  select concept_id from paper_concepts group by concept_id having count(*) >= getvariable('least_papers')
) using (concept_id)
order by number, concept_id;
drop table paper_concepts;
alter table settled rename to paper_concepts;
create table kept as
select concept_id, key, name from concepts semi join paper_concepts using (concept_id) order by concept_id;
drop table concepts;
alter table kept rename to concepts;
drop table named;
create table about as select getvariable('least_papers')::integer as least_papers
