-- What the rules read. `papers` holds a row for each record, `entries` one for each entry of a reference list,
-- `others` what other sources say of the same papers, `found` what the rules say.
create table papers (
  number bigint, paper_id varchar, title varchar, plain_title varchar, abstract varchar, plain_abstract varchar,
  authors varchar[], surnames varchar[], venue varchar, year integer, published varchar, url varchar, doi varchar,
  citation_count bigint, title_stems varchar[], abstract_stems varchar[]
);
create table others (
  source varchar, number bigint, paper_id varchar, title varchar, plain_title varchar, abstract varchar, plain_abstract varchar,
  authors varchar[], surnames varchar[], venue varchar, year integer, published varchar, url varchar, doi varchar,
  citation_count bigint, title_stems varchar[], abstract_stems varchar[]
);
create table entries (citing bigint, position bigint, cited bigint);
create table found (
  rule varchar, defect varchar, number bigint, field varchar, action varchar, old varchar, new varchar,
  evidence varchar, confidence double
);
create macro shared(one, other) as len(list_intersect(one, other));
create macro alike(one, other) as
  case when len(one) + len(other) = 0 then 0.0 else shared(one, other) / (len(one) + len(other) - shared(one, other)) end;
create macro fit(title_stems, abstract_stems) as
  case when len(title_stems) = 0 then 0.0 else shared(title_stems, abstract_stems) / len(title_stems) end;
-- An address without its last part: papers that share it appeared together more often than not.
create macro series(address) as regexp_replace(regexp_replace(address, '\.(html?|pdf)$', ''), '[./][^./]*$', '');
create macro year_in(address) as try_cast(regexp_extract(address, '(?:^|[^0-9])((?:19|20)[0-9]{2})(?:[^0-9]|$)', 1) as integer);
-- An address without its digits: the same for all papers of one publisher's form.
create macro form(address) as
  regexp_replace(regexp_extract(address, '^(?:https?://)?(?:www\.)?([^?#]*)', 1), '[0-9][^/]*$|[0-9]+', '#', 'g');
