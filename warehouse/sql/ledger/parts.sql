select * from ({parts})
order by unit_id, part, step, step_version, prompt_sha256
