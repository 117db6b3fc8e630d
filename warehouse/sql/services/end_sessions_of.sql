delete from sessions where name = :name
