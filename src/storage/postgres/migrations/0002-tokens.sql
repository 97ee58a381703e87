-- Times are milliseconds since 1970; scopes are separated by spaces.
CREATE TABLE tokens (
  id           text   PRIMARY KEY,
  hash         text   NOT NULL UNIQUE,
  label        text   NOT NULL,
  scopes       text   NOT NULL,
  created_at   bigint NOT NULL,
  expires_at   bigint,
  last_used_at bigint
);
