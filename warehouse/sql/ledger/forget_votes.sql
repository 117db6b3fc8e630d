update human_votes set reason = null where voter = $voter and reason is not null
