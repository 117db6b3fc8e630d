-- Ideas whose literature could not be looked up in full
select f.run_id, f.idea_id, i.title, f.stage, f.reason, count(*) as failures
from failures as f
inner join ideas as i on i.run_id = f.run_id and i.idea_id = f.idea_id
where f.stage in ('literature', 'documents')
group by all
order by failures desc
limit 100
