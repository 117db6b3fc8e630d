-- Published runs that curated papers, newest first.
select * from curation_runs order by started_at desc, run_id
