-- Times are milliseconds since 1970. The version changes with every write. The words are those of the name, folded by
-- plants/plant-search.ts. Plants share nothing, so they can be distributed by id.
CREATE TABLE plants (
  id         bigint   PRIMARY KEY,
  name       text     NOT NULL,
  tag        text,
  created_at bigint   NOT NULL,
  updated_at bigint   NOT NULL,
  version    bigint   NOT NULL,
  words      tsvector NOT NULL
);

-- A prefix of the tag: an index entry must fit in a third of a page, and a tag may be a megabyte.
CREATE INDEX plants_by_tag ON plants (left(tag, 200), id) WHERE tag IS NOT NULL;

CREATE INDEX plants_by_word ON plants USING gin (words);

-- The first create with a key: the fingerprint of its request, and the version of the plant that it stored.
CREATE TABLE idempotency_keys (
  caller        text   NOT NULL,
  key           text   NOT NULL,
  fingerprint   text   NOT NULL,
  plant_version bigint NOT NULL,
  created_at    bigint NOT NULL,
  PRIMARY KEY (caller, key)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
