-- The words of each name as plants/plant-search.ts folds them, separated by spaces. Contentless: the text is in plants.
-- The ascii tokenizer splits at ASCII punctuation and space alone, so a token is exactly one of our words.
CREATE VIRTUAL TABLE plant_words USING fts5 (
  words,
  content = '',
  contentless_delete = 1,
  detail = 'none',
  tokenize = 'ascii'
);

-- Plants whose words are not indexed yet, a row for each transaction that wrote some: filled with it, emptied by the
-- indexer. plant_ids holds 64-bit integers, little-endian: a row for each plant cost a third of its write.
CREATE TABLE unindexed_batches (
  position  INTEGER PRIMARY KEY,
  plant_ids BLOB NOT NULL
) STRICT;
