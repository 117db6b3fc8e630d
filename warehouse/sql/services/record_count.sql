select count(*) from records
