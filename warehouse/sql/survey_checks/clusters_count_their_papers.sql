-- severity: critical
-- A cluster's count is that of its kept papers.
select c.run_id, c.question_id, c.cluster_id
from survey_clusters as c
left join survey_papers as p using (run_id, question_id, cluster_id)
group by c.run_id, c.question_id, c.cluster_id, c.paper_count
having c.paper_count <> count(p.paper_id)
