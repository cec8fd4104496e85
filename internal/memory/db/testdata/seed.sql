-- See both session IDs
SELECT
id,
content_session_id,
memory_session_id,
CASE
WHEN memory_session_id IS NULL THEN 'NOT_CAPTURED'
ELSE 'CAPTURED'
END as state
FROM sdk_sessions
WHERE content_session_id = 'your-session-id';
-- Should return 0 rows if FK integrity is maintained
SELECT o.*
FROM observations o
LEFT JOIN sdk_sessions s ON o.memory_session_id = s.memory_session_id
WHERE s.id IS NULL;
-- See which observations belong to a session
SELECT
o.id,
o.title,
o.memory_session_id,
s.content_session_id,
s.memory_session_id as session_memory_id
FROM observations o
JOIN sdk_sessions s ON o.memory_session_id = s.memory_session_id
WHERE s.content_session_id = 'your-session-id';
