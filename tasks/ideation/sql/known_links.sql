-- Of each pair that papers had named together by the last day, or did until another one: both concepts in one number.
select concept_id::bigint * 4294967296 + neighbour_id as pair from links where concept_id < neighbour_id
union
select a.concept_id::bigint * 4294967296 + b.concept_id
from paper_concepts a join paper_concepts b on a.number = b.number and a.concept_id < b.concept_id
where a.last_day > getvariable('last_day') and a.last_day <= $until
order by pair
