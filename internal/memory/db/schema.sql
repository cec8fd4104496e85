-- Version 1. It stays as it is: a change is a new version, in a file with the way from the one before.
PRAGMA application_id = 0x6e62736d; -- "nbsm"
PRAGMA user_version = 1;

-- The id of this database, made with it. The user's seal covers it.
CREATE TABLE instance (
  only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
  id       TEXT NOT NULL
) STRICT;

CREATE TABLE observed (
  content_id   TEXT PRIMARY KEY CHECK (length(content_id) = 36),
  handle       TEXT NOT NULL COLLATE NOCASE,
  first_prompt TEXT NOT NULL,
  memory_id    TEXT UNIQUE CHECK (length(memory_id) = 36 AND memory_id <> content_id), -- NULL until captured
  synthesized  INTEGER NOT NULL DEFAULT 0 CHECK (synthesized IN (0, 1)),
  read_to      TEXT NOT NULL DEFAULT '',
  problem      TEXT NOT NULL DEFAULT '',
  problem_at   INTEGER NOT NULL DEFAULT 0, -- this time and all others: milliseconds since 1970
  created      INTEGER NOT NULL
) STRICT;

CREATE INDEX observed_handle ON observed (handle);

-- No memory id is any content id, whichever of them comes first.
CREATE TRIGGER content_is_no_memory BEFORE INSERT ON observed
  WHEN EXISTS (SELECT 1 FROM observed WHERE memory_id = NEW.content_id OR content_id = NEW.memory_id)
  BEGIN SELECT RAISE(ABORT, 'the content id is a memory id'); END;
CREATE TRIGGER memory_is_no_content BEFORE UPDATE OF memory_id ON observed
  WHEN EXISTS (SELECT 1 FROM observed WHERE content_id = NEW.memory_id)
  BEGIN SELECT RAISE(ABORT, 'the memory id is a content id'); END;

-- An observer in a new conversation has a new memory id. The earlier observations then get that id.
CREATE TABLE observations (
  id        INTEGER PRIMARY KEY AUTOINCREMENT, -- of one that is forgotten, never given again
  memory_id TEXT NOT NULL REFERENCES observed (memory_id) ON UPDATE CASCADE ON DELETE CASCADE,
  turn      INTEGER NOT NULL,
  type      TEXT NOT NULL,
  title     TEXT NOT NULL,
  narrative TEXT NOT NULL,
  facts     TEXT NOT NULL, -- JSON
  files     TEXT NOT NULL, -- JSON
  at        INTEGER NOT NULL,
  hash      TEXT NOT NULL,
  UNIQUE (memory_id, hash)
) STRICT;

CREATE INDEX observations_memory_at ON observations (memory_id, at);
CREATE INDEX observations_at ON observations (at);

CREATE VIRTUAL TABLE words USING fts5 (
  title, narrative, facts, files,
  content = 'observations', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(10.0, 3.0, 2.0, 2.0)');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1); -- what is forgotten is not in the file any more

CREATE TRIGGER observation_is_found AFTER INSERT ON observations BEGIN
  INSERT INTO words (rowid, title, narrative, facts, files) VALUES (NEW.id, NEW.title, NEW.narrative, NEW.facts, NEW.files);
END;
CREATE TRIGGER observation_is_forgotten AFTER DELETE ON observations BEGIN
  INSERT INTO words (words, rowid, title, narrative, facts, files)
    VALUES ('delete', OLD.id, OLD.title, OLD.narrative, OLD.facts, OLD.files);
END;

CREATE TABLE spent (
  day    TEXT PRIMARY KEY, -- 2006-01-02, UTC
  tokens INTEGER NOT NULL
) STRICT;
