-- Times are milliseconds since 1970; scopes are separated by spaces.
CREATE TABLE tokens (
  id           TEXT    PRIMARY KEY,
  hash         TEXT    NOT NULL UNIQUE,
  label        TEXT    NOT NULL,
  scopes       TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
