delete from sessions where ends_at <= :now
