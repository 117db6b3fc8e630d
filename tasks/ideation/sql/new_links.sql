-- Concepts known on the last day that no paper had named together by then, and papers did until another day.
select a.concept_id as first, b.concept_id as second, count(*) as later_count
from paper_concepts a
join paper_concepts b on a.number = b.number and a.concept_id < b.concept_id
semi join known on known.concept_id = a.concept_id
where
  b.concept_id in (select concept_id from known)
  and a.last_day > getvariable('last_day') and a.last_day <= $until
  and (a.concept_id, b.concept_id) not in (select (concept_id, neighbour_id) from links)
group by all
order by first, second
