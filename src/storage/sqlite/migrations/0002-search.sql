-- The words of each name as plants/plant-search.ts folds them, separated by spaces. Contentless: the text is in plants.
-- The ascii tokenizer splits at ASCII punctuation and space alone, so a token is exactly one of our words.
CREATE VIRTUAL TABLE plant_words USING fts5 (
  words,
  content = '',
  contentless_delete = 1,
  detail = 'none',
  tokenize = 'ascii'
);

-- Plants whose words are not indexed yet, in the order of their writes; filled with the write, emptied by the indexer.
CREATE TABLE unindexed_plants (
  position INTEGER PRIMARY KEY,
  plant_id INTEGER NOT NULL
) STRICT;
