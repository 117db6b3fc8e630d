insert into pseudonyms (name, pseudonym) values (:name, :pseudonym) on conflict do nothing
