-- The words of each name, folded by plants/plant-search.ts and separated by spaces. Contentless: the text is in plants.
-- The ascii tokenizer splits only at ASCII punctuation and spaces, so a token is exactly one of our words.
CREATE VIRTUAL TABLE plant_words USING fts5 (
  words,
  content = '',
  contentless_delete = 1,
  detail = 'none',
  tokenize = 'ascii'
);

-- Plants whose words are not indexed yet, a row for each transaction that wrote some. The transaction inserts it, the
-- indexer deletes it. plant_ids are 64-bit integers, little-endian: a row for each plant cost a third of its write.
CREATE TABLE unindexed_batches (
  position  INTEGER PRIMARY KEY,
  plant_ids BLOB NOT NULL
) STRICT;
