select count(*) from contests
