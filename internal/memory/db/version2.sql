-- From version 1 to version 2: the names by which others know the two ids, for queries of a person with sqlite3.
-- This program itself uses none of them.
ALTER TABLE observations ADD COLUMN memory_session_id TEXT GENERATED ALWAYS AS (memory_id) VIRTUAL;

CREATE VIEW sdk_sessions AS
  SELECT rowid AS id, content_id AS content_session_id, memory_id AS memory_session_id, handle, first_prompt, created FROM observed;

PRAGMA user_version = 2;
