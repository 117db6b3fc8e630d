-- Papers that beat an idea in most dimensions
select c.idea_id, i.title as idea, p.title as paper, count(*) filter (where c.score = -1) as paper_more_novel, count(c.score) as scored
from comparisons as c
inner join ideas as i on i.run_id = c.run_id and i.idea_id = c.idea_id
inner join papers as p on p.run_id = c.run_id and p.idea_id = c.idea_id and p.paper_id = c.paper_id
group by all
order by paper_more_novel desc, scored desc
limit 50
