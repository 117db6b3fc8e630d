select standing from contests where contest = :contest
