-- The newest version of any plant that was deleted. A plant is created with a newer one, so that a version that
-- somebody knows of the old plant never fits another that has its id. One row.
CREATE TABLE newest_deleted_version (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  version  INTEGER NOT NULL
) STRICT;

INSERT INTO newest_deleted_version VALUES (1, 0);
