-- Times are milliseconds since 1970. The version changes with every write.
CREATE TABLE plants (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  tag        TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version    INTEGER NOT NULL
) STRICT;

CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;

-- The first create with a key: the fingerprint of its request, and the version of the plant that it stored.
CREATE TABLE idempotency_keys (
  caller        TEXT    NOT NULL,
  key           TEXT    NOT NULL,
  fingerprint   TEXT    NOT NULL,
  plant_version INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
