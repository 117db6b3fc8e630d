-- severity: critical
-- Every compared paper is compared along every dimension, scored or with a reason; an evaluation that ended early may lack some.
select i.run_id, i.idea_id, c.paper_id, d.dimension_id
from ideas as i
inner join (select distinct idea_id, paper_id from candidates where compared) as c on c.idea_id = i.idea_id
inner join dimensions as d on d.idea_id = i.idea_id
where i.incomplete_reason is null
  and not exists (
    select 1 from comparisons as x where x.idea_id = i.idea_id and x.paper_id = c.paper_id and x.dimension_id = d.dimension_id
  )
