-- Times are microseconds since 1970. updated_at grows with every change of a plant, and so is its version.
CREATE TABLE plants (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  tag        TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;

-- The first create with a key: what it asked for, and what it was answered.
CREATE TABLE idempotency_keys (
  caller           TEXT    NOT NULL,
  key              TEXT    NOT NULL,
  fingerprint      TEXT    NOT NULL,
  plant_created_at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (plant_created_at);
