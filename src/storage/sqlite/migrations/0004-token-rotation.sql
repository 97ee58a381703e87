-- The hash that a token had before it was rotated, and until when that one is good. Milliseconds since 1970.
ALTER TABLE tokens ADD COLUMN previous_hash TEXT;
ALTER TABLE tokens ADD COLUMN previous_expires_at INTEGER;
CREATE UNIQUE INDEX tokens_by_previous_hash ON tokens (previous_hash);
