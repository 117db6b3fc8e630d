-- Where the ideas of a run cite a paper: module, what it is about and in which field.
select c.idea_id, i.title, c.module, c.subject, c.field, c.count
from citations as c
inner join ideas as i on i.run_id = c.run_id and i.idea_id = c.idea_id
where c.run_id = $run_id and c.paper_id = $paper_id
order by c.idea_id, c.module, c.subject, c.field
