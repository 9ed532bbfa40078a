-- Haltline, revision 0001, SQLite. Released: never change this file, write a new revision.

CREATE TABLE sessions (
    id text PRIMARY KEY NOT NULL,
    token_hash text NOT NULL UNIQUE,
    name text,
    agent_name text NOT NULL,
    state text NOT NULL CHECK (state IN ('active', 'halted', 'paused', 'closed')),
    created_at text NOT NULL,
    updated_at text NOT NULL,
    closed_at text
);
CREATE INDEX idx_sessions_state ON sessions (state, created_at, id);

CREATE TABLE halt_events (
    id text PRIMARY KEY NOT NULL,
    session_id text NOT NULL REFERENCES sessions (id),
    task_id text,
    halt_type text NOT NULL CHECK (halt_type IN ('code_safety', 'scope', 'environment', 'execution', 'security', 'uncertainty')),
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    condition_name text,
    description text NOT NULL,
    context text,
    triggered_at text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
    created_at text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
    updated_at text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
    acknowledged boolean NOT NULL DEFAULT FALSE CHECK (acknowledged IN (FALSE, TRUE)),
    acknowledged_at text,
    acknowledged_by text,
    resolution text CHECK (resolution IN ('resolved', 'escalated', 'dismissed', 'timeout')),
    resolution_notes text,
    attempt_count integer,
    previous_error text,
    action_digest text,
    evidence_digest text,
    single_use boolean NOT NULL DEFAULT FALSE,
    auto_recorded boolean NOT NULL DEFAULT FALSE,
    auto_escalate boolean NOT NULL DEFAULT FALSE,
    escalate_after_minutes integer,
    escalate_at text,
    CONSTRAINT settled_by_somebody CHECK (
        (acknowledged = TRUE AND acknowledged_at IS NOT NULL AND acknowledged_by IS NOT NULL
            AND resolution IS NOT NULL AND resolution <> 'timeout')
        OR (acknowledged = FALSE AND acknowledged_at IS NULL AND acknowledged_by IS NULL
            AND (resolution IS NULL OR resolution = 'timeout'))
    )
);

-- The specification's indexes.
CREATE INDEX idx_halt_events_session ON halt_events (session_id);
CREATE INDEX idx_halt_events_task ON halt_events (task_id);
CREATE INDEX idx_halt_events_type ON halt_events (halt_type);
CREATE INDEX idx_halt_events_severity ON halt_events (severity);
CREATE INDEX idx_halt_events_triggered ON halt_events (triggered_at);
CREATE INDEX idx_halt_events_acknowledged ON halt_events (acknowledged) WHERE acknowledged = FALSE;
CREATE INDEX idx_halt_events_session_unack ON halt_events (session_id, acknowledged) WHERE acknowledged = FALSE;
CREATE INDEX idx_halt_events_session_type ON halt_events (session_id, halt_type);

-- What the operations need besides.
CREATE INDEX idx_halt_events_history ON halt_events (session_id, triggered_at, id);
CREATE INDEX idx_halt_events_open ON halt_events (session_id, triggered_at, id)
    WHERE severity <> 'low' AND (acknowledged = FALSE OR resolution = 'escalated');
-- These two say in other words that a halt is not acknowledged, because SQLite would take idx_halt_events_acknowledged
-- for its equality wherever it can, and sort every halt that nobody has answered.
CREATE INDEX idx_halt_events_open_everywhere ON halt_events (triggered_at, id)
    WHERE severity <> 'low' AND (acknowledged = FALSE OR resolution = 'escalated');
CREATE INDEX idx_halt_events_unanswered ON halt_events (triggered_at, id) WHERE NOT acknowledged;
CREATE INDEX idx_halt_events_overdue ON halt_events (escalate_at, session_id)
    WHERE resolution IS NULL AND escalate_at IS NOT NULL;
CREATE INDEX idx_halt_events_strikes ON halt_events (session_id, coalesce(task_id, ''), triggered_at, id)
    WHERE attempt_count IS NOT NULL AND previous_error IS NOT NULL;

CREATE TABLE halt_events_archive (
    id text PRIMARY KEY NOT NULL,
    session_id text NOT NULL,
    task_id text,
    halt_type text NOT NULL CHECK (halt_type IN ('code_safety', 'scope', 'environment', 'execution', 'security', 'uncertainty')),
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    condition_name text,
    description text NOT NULL,
    context text,
    triggered_at text NOT NULL,
    created_at text NOT NULL,
    updated_at text NOT NULL,
    acknowledged boolean NOT NULL CHECK (acknowledged IN (FALSE, TRUE)),
    acknowledged_at text,
    acknowledged_by text,
    resolution text CHECK (resolution IN ('resolved', 'escalated', 'dismissed', 'timeout')),
    resolution_notes text,
    attempt_count integer,
    previous_error text,
    action_digest text,
    evidence_digest text,
    single_use boolean NOT NULL,
    auto_recorded boolean NOT NULL,
    auto_escalate boolean NOT NULL,
    escalate_after_minutes integer,
    escalate_at text,
    CONSTRAINT settled_by_somebody CHECK (
        (acknowledged = TRUE AND acknowledged_at IS NOT NULL AND acknowledged_by IS NOT NULL
            AND resolution IS NOT NULL AND resolution <> 'timeout')
        OR (acknowledged = FALSE AND acknowledged_at IS NULL AND acknowledged_by IS NULL
            AND (resolution IS NULL OR resolution = 'timeout'))
    )
);

CREATE TABLE halt_conditions_config (
    id text PRIMARY KEY NOT NULL,
    condition_name text NOT NULL UNIQUE,
    halt_type text NOT NULL CHECK (halt_type IN ('code_safety', 'scope', 'environment', 'execution', 'security', 'uncertainty')),
    enabled boolean NOT NULL DEFAULT TRUE,
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    threshold text,
    auto_escalate boolean NOT NULL DEFAULT FALSE,
    escalate_after_minutes integer,
    created_at text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
    updated_at text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
);

CREATE TABLE strikes (
    session_id text NOT NULL REFERENCES sessions (id),
    task_id text NOT NULL,
    attempts integer NOT NULL,
    updated_at text NOT NULL,
    reset_at text,
    reset_by text,
    PRIMARY KEY (session_id, task_id)
);

CREATE TABLE file_reads (
    session_id text NOT NULL REFERENCES sessions (id),
    path text NOT NULL,
    content_hash text,
    read_at text NOT NULL,
    PRIMARY KEY (session_id, path)
);

-- halt_id refers to halt_events or, later, to its archive: no foreign key can say that.
CREATE TABLE waivers (
    id text PRIMARY KEY NOT NULL,
    session_id text NOT NULL REFERENCES sessions (id),
    halt_id text NOT NULL,
    condition_name text NOT NULL,
    evidence_digest text NOT NULL,
    single_use boolean NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    expires_at text,
    used_at text
);
CREATE INDEX idx_waivers_session ON waivers (session_id, created_at, id) WHERE single_use = FALSE OR used_at IS NULL;

CREATE TABLE principals (
    id text PRIMARY KEY NOT NULL,
    kind text NOT NULL CHECK (kind IN ('agent', 'human', 'admin', 'service')),
    name text NOT NULL,
    prefix text NOT NULL,
    key_hash text NOT NULL UNIQUE,
    created_at text NOT NULL,
    created_by text NOT NULL,
    revoked_at text
);

CREATE TABLE outbox (
    id text PRIMARY KEY NOT NULL,
    kind text NOT NULL CHECK (kind IN ('notification', 'guidance')),
    dedup_key text NOT NULL UNIQUE,
    session_id text NOT NULL REFERENCES sessions (id),
    halt_id text NOT NULL,
    payload text NOT NULL,
    created_at text NOT NULL,
    delivered_at text,
    cancelled_at text
);
CREATE INDEX idx_outbox_guidance ON outbox (session_id, created_at, id)
    WHERE kind = 'guidance' AND delivered_at IS NULL AND cancelled_at IS NULL;
CREATE INDEX idx_outbox_pending ON outbox (created_at, id)
    WHERE kind = 'notification' AND delivered_at IS NULL AND cancelled_at IS NULL;
CREATE INDEX idx_outbox_halt ON outbox (halt_id)
    WHERE kind = 'notification' AND delivered_at IS NULL AND cancelled_at IS NULL;

-- Times and payloads are text here on purpose: the hash is over exactly these characters.
CREATE TABLE audit_log (
    sequence integer PRIMARY KEY NOT NULL,
    at text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    session_id text,
    payload text NOT NULL,
    previous_hash text NOT NULL,
    hash text NOT NULL
);

-- Immutability. IS NOT TRUE, because a comparison with NULL must refuse, not let through. The rowid is guarded
-- too: REPLACE over another row's rowid would delete that row without firing its triggers.
CREATE TRIGGER halt_events_settled_once BEFORE UPDATE ON halt_events
WHEN (
    NEW.rowid = OLD.rowid AND NEW.id IS OLD.id AND NEW.session_id IS OLD.session_id AND NEW.task_id IS OLD.task_id AND
    NEW.halt_type IS OLD.halt_type AND NEW.severity IS OLD.severity AND
    NEW.condition_name IS OLD.condition_name AND NEW.description IS OLD.description AND
    NEW.context IS OLD.context AND NEW.triggered_at IS OLD.triggered_at AND
    NEW.created_at IS OLD.created_at AND NEW.attempt_count IS OLD.attempt_count AND
    NEW.previous_error IS OLD.previous_error AND NEW.action_digest IS OLD.action_digest AND
    NEW.evidence_digest IS OLD.evidence_digest AND NEW.single_use IS OLD.single_use AND
    NEW.auto_recorded IS OLD.auto_recorded AND NEW.auto_escalate IS OLD.auto_escalate AND
    NEW.escalate_after_minutes IS OLD.escalate_after_minutes AND NEW.escalate_at IS OLD.escalate_at
    AND (
        (OLD.acknowledged = FALSE AND OLD.resolution IS NULL AND (
            (NEW.acknowledged = TRUE AND NEW.resolution IN ('resolved', 'escalated', 'dismissed'))
            OR (NEW.acknowledged = FALSE AND NEW.resolution = 'timeout')))
        OR (OLD.resolution IN ('escalated', 'timeout')
            AND NEW.acknowledged = TRUE AND NEW.resolution IN ('resolved', 'dismissed'))
    )
) IS NOT TRUE
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: a halt changes only when it is settled, and is settled once');
END;

CREATE TRIGGER halt_events_not_overwritten BEFORE INSERT ON halt_events
WHEN EXISTS (SELECT 1 FROM halt_events AS h WHERE h.id = NEW.id)
    OR EXISTS (SELECT 1 FROM halt_events AS h WHERE h.rowid = NEW.rowid)
    OR EXISTS (SELECT 1 FROM halt_events_archive AS a WHERE a.id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: a halt with this id exists');
END;

CREATE TRIGGER halt_events_only_archived_deleted BEFORE DELETE ON halt_events
WHEN (
    (OLD.severity = 'low' OR (OLD.acknowledged = TRUE AND OLD.resolution <> 'escalated'))
    AND EXISTS (
        SELECT 1 FROM halt_events_archive AS a WHERE a.id IS OLD.id AND a.session_id IS OLD.session_id AND a.task_id IS OLD.task_id AND
        a.halt_type IS OLD.halt_type AND a.severity IS OLD.severity AND
        a.condition_name IS OLD.condition_name AND a.description IS OLD.description AND
        a.context IS OLD.context AND a.triggered_at IS OLD.triggered_at AND
        a.created_at IS OLD.created_at AND a.updated_at IS OLD.updated_at AND
        a.acknowledged IS OLD.acknowledged AND a.acknowledged_at IS OLD.acknowledged_at AND
        a.acknowledged_by IS OLD.acknowledged_by AND a.resolution IS OLD.resolution AND
        a.resolution_notes IS OLD.resolution_notes AND a.attempt_count IS OLD.attempt_count AND
        a.previous_error IS OLD.previous_error AND a.action_digest IS OLD.action_digest AND
        a.evidence_digest IS OLD.evidence_digest AND a.single_use IS OLD.single_use AND
        a.auto_recorded IS OLD.auto_recorded AND a.auto_escalate IS OLD.auto_escalate AND
        a.escalate_after_minutes IS OLD.escalate_after_minutes AND a.escalate_at IS OLD.escalate_at
    )
) IS NOT TRUE
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: only a settled halt that lies in the archive may be deleted');
END;

CREATE TRIGGER halt_events_archive_only_settled BEFORE INSERT ON halt_events_archive
WHEN (
    (NEW.severity = 'low' OR (NEW.acknowledged = TRUE AND NEW.resolution <> 'escalated'))
    AND NOT EXISTS (SELECT 1 FROM halt_events_archive AS a WHERE a.id = NEW.id)
    AND NOT EXISTS (SELECT 1 FROM halt_events_archive AS a WHERE a.rowid = NEW.rowid)
    AND EXISTS (
        SELECT 1 FROM halt_events AS h WHERE h.id IS NEW.id AND h.session_id IS NEW.session_id AND h.task_id IS NEW.task_id AND
        h.halt_type IS NEW.halt_type AND h.severity IS NEW.severity AND
        h.condition_name IS NEW.condition_name AND h.description IS NEW.description AND
        h.context IS NEW.context AND h.triggered_at IS NEW.triggered_at AND
        h.created_at IS NEW.created_at AND h.updated_at IS NEW.updated_at AND
        h.acknowledged IS NEW.acknowledged AND h.acknowledged_at IS NEW.acknowledged_at AND
        h.acknowledged_by IS NEW.acknowledged_by AND h.resolution IS NEW.resolution AND
        h.resolution_notes IS NEW.resolution_notes AND h.attempt_count IS NEW.attempt_count AND
        h.previous_error IS NEW.previous_error AND h.action_digest IS NEW.action_digest AND
        h.evidence_digest IS NEW.evidence_digest AND h.single_use IS NEW.single_use AND
        h.auto_recorded IS NEW.auto_recorded AND h.auto_escalate IS NEW.auto_escalate AND
        h.escalate_after_minutes IS NEW.escalate_after_minutes AND h.escalate_at IS NEW.escalate_at
    )
) IS NOT TRUE
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: the archive takes settled halts exactly as they are, once');
END;

CREATE TRIGGER halt_events_archive_not_updated BEFORE UPDATE ON halt_events_archive
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: the archive does not change');
END;

CREATE TRIGGER halt_events_archive_not_deleted BEFORE DELETE ON halt_events_archive
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: the archive does not shrink');
END;

CREATE TRIGGER audit_log_appended BEFORE INSERT ON audit_log
WHEN (
    NEW.sequence = (SELECT coalesce(max(sequence), 0) + 1 FROM audit_log)
    AND NEW.previous_hash = coalesce(
        (SELECT hash FROM audit_log ORDER BY sequence DESC LIMIT 1),
        '0000000000000000000000000000000000000000000000000000000000000000')
) IS NOT TRUE
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: the audit log grows by its next link only');
END;

CREATE TRIGGER audit_log_not_updated BEFORE UPDATE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: the audit log does not change');
END;

CREATE TRIGGER audit_log_not_deleted BEFORE DELETE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'haltline immutable: the audit log does not shrink');
END;
