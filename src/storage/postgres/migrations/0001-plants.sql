-- Times are milliseconds since 1970. The version is another one after every write. The words are those of the name, as
-- plants/plant-search.ts folds them. Nothing here is shared by all plants: a plant can live wherever its id says.
CREATE TABLE plants (
  id         bigint   PRIMARY KEY,
  name       text     NOT NULL,
  tag        text,
  created_at bigint   NOT NULL,
  updated_at bigint   NOT NULL,
  version    bigint   NOT NULL,
  words      tsvector NOT NULL
);

-- The beginning of the tag, as an entry of an index must fit in a third of a page, and a tag may be a megabyte.
CREATE INDEX plants_by_tag ON plants (left(tag, 200), id) WHERE tag IS NOT NULL;

CREATE INDEX plants_by_word ON plants USING gin (words);

-- The first create with a key: what it asked for, and the version of the plant that it made.
CREATE TABLE idempotency_keys (
  caller        text   NOT NULL,
  key           text   NOT NULL,
  fingerprint   text   NOT NULL,
  plant_version bigint NOT NULL,
  created_at    bigint NOT NULL,
  PRIMARY KEY (caller, key)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
