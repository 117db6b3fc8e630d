insert into contests (contest, document) values (:contest, :document) on conflict do nothing
