-- Every engine that wrote what is voted on.
select engine from runs
union
select engine from survey_runs
union
select engine from check_runs
