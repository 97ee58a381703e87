-- The hash before the last rotation and the time until which it is valid, in milliseconds since 1970.
ALTER TABLE tokens ADD COLUMN previous_hash TEXT;
ALTER TABLE tokens ADD COLUMN previous_expires_at INTEGER;
CREATE UNIQUE INDEX tokens_by_previous_hash ON tokens (previous_hash);
