select pseudonym from pseudonyms where name = :name
