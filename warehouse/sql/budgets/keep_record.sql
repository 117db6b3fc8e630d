insert into records values (?1, ?2) on conflict (name) do update set content = excluded.content
