-- Engine, profile and prompts of what a run wrote.
with prompts as (
    select run_id, string_agg(distinct step || ' ' || step_version || ' ' || left(prompt_sha256, 8), ', ') as prompts
    from (
        select run_id, step, step_version, prompt_sha256 from soundness_reviews
        union all by name
        select run_id, step, step_version, prompt_sha256 from contribution_reviews
        union all by name
        select run_id, step, step_version, prompt_sha256 from meta_reviews
        union all by name
        select run_id, step, step_version, prompt_sha256 from survey_sections
        union all by name
        select run_id, step, step_version, prompt_sha256 from problems
    )
    group by run_id
)
select run_id, engine, profile, prompts
from (
    select run_id, engine, profile from runs
    union all
    select run_id, engine, profile from survey_runs
    union all
    select run_id, engine, form from check_runs
)
left join prompts using (run_id)
