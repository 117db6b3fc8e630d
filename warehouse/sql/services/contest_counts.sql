select contest, count(*) from offers where closed is distinct from 'skipped' group by contest
