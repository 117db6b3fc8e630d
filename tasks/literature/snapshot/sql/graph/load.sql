-- Both directions, each in its own order: a paper's neighbours stand together.
create table edges as select distinct citing, cited from incoming where citing <> cited order by citing, cited;
create table edges_by_cited as select cited, citing from edges order by cited, citing;
