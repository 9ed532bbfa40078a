-- Haltline, revision 0001, PostgreSQL. Released: never change this file, write a new revision.

CREATE TYPE halt_type AS ENUM ('code_safety', 'scope', 'environment', 'execution', 'security', 'uncertainty');
CREATE TYPE severity_level AS ENUM ('low', 'medium', 'high', 'critical');
CREATE TYPE halt_resolution AS ENUM ('resolved', 'escalated', 'dismissed', 'timeout');
CREATE TYPE session_state AS ENUM ('active', 'halted', 'paused', 'closed');
CREATE TYPE principal_kind AS ENUM ('agent', 'human', 'admin', 'service');
CREATE TYPE message_kind AS ENUM ('notification', 'guidance');

CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    token_hash text NOT NULL UNIQUE,
    name text,
    agent_name text NOT NULL,
    state session_state NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    closed_at timestamptz
);
CREATE INDEX idx_sessions_state ON sessions (state, created_at, id);

CREATE TABLE halt_events (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    session_id uuid NOT NULL REFERENCES sessions (id),
    task_id text,
    halt_type halt_type NOT NULL,
    severity severity_level NOT NULL,
    condition_name text,
    description text NOT NULL,
    context jsonb,
    triggered_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    acknowledged boolean NOT NULL DEFAULT FALSE,
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolution halt_resolution,
    resolution_notes text,
    attempt_count integer,
    previous_error text,
    action_digest text,
    evidence_digest text,
    single_use boolean NOT NULL DEFAULT FALSE,
    auto_recorded boolean NOT NULL DEFAULT FALSE,
    auto_escalate boolean NOT NULL DEFAULT FALSE,
    escalate_after_minutes integer,
    escalate_at timestamptz,
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
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL,
    task_id text,
    halt_type halt_type NOT NULL,
    severity severity_level NOT NULL,
    condition_name text,
    description text NOT NULL,
    context jsonb,
    triggered_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    acknowledged boolean NOT NULL,
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolution halt_resolution,
    resolution_notes text,
    attempt_count integer,
    previous_error text,
    action_digest text,
    evidence_digest text,
    single_use boolean NOT NULL,
    auto_recorded boolean NOT NULL,
    auto_escalate boolean NOT NULL,
    escalate_after_minutes integer,
    escalate_at timestamptz,
    CONSTRAINT settled_by_somebody CHECK (
        (acknowledged = TRUE AND acknowledged_at IS NOT NULL AND acknowledged_by IS NOT NULL
            AND resolution IS NOT NULL AND resolution <> 'timeout')
        OR (acknowledged = FALSE AND acknowledged_at IS NULL AND acknowledged_by IS NULL
            AND (resolution IS NULL OR resolution = 'timeout'))
    )
);

CREATE TABLE halt_conditions_config (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    condition_name text NOT NULL UNIQUE,
    halt_type halt_type NOT NULL,
    enabled boolean NOT NULL DEFAULT TRUE,
    severity severity_level NOT NULL,
    threshold jsonb,
    auto_escalate boolean NOT NULL DEFAULT FALSE,
    escalate_after_minutes integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE strikes (
    session_id uuid NOT NULL REFERENCES sessions (id),
    task_id text NOT NULL,
    attempts integer NOT NULL,
    updated_at timestamptz NOT NULL,
    reset_at timestamptz,
    reset_by text,
    PRIMARY KEY (session_id, task_id)
);

CREATE TABLE file_reads (
    session_id uuid NOT NULL REFERENCES sessions (id),
    path text NOT NULL,
    content_hash text,
    read_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, path)
);

-- halt_id refers to halt_events or, later, to its archive: no foreign key can say that.
CREATE TABLE waivers (
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES sessions (id),
    halt_id uuid NOT NULL,
    condition_name text NOT NULL,
    evidence_digest text NOT NULL,
    single_use boolean NOT NULL,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    expires_at timestamptz,
    used_at timestamptz
);
CREATE INDEX idx_waivers_session ON waivers (session_id, created_at, id) WHERE single_use = FALSE OR used_at IS NULL;

CREATE TABLE principals (
    id uuid PRIMARY KEY,
    kind principal_kind NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    key_hash text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    revoked_at timestamptz
);

CREATE TABLE outbox (
    id uuid PRIMARY KEY,
    kind message_kind NOT NULL,
    dedup_key text NOT NULL UNIQUE,
    session_id uuid NOT NULL REFERENCES sessions (id),
    halt_id uuid NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    delivered_at timestamptz,
    cancelled_at timestamptz
);
CREATE INDEX idx_outbox_guidance ON outbox (session_id, created_at, id)
    WHERE kind = 'guidance' AND delivered_at IS NULL AND cancelled_at IS NULL;
CREATE INDEX idx_outbox_pending ON outbox (created_at, id)
    WHERE kind = 'notification' AND delivered_at IS NULL AND cancelled_at IS NULL;
CREATE INDEX idx_outbox_halt ON outbox (halt_id)
    WHERE kind = 'notification' AND delivered_at IS NULL AND cancelled_at IS NULL;

-- Times and payloads are text here on purpose: the hash is over exactly these characters.
CREATE TABLE audit_log (
    sequence bigint PRIMARY KEY,
    at text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    session_id text,
    payload text NOT NULL,
    previous_hash text NOT NULL,
    hash text NOT NULL
);

-- Immutability. IS NOT TRUE, because a comparison with NULL must refuse, not let through. The functions fix
-- their search path, so that a temporary table of the same name cannot stand in for the archive.
CREATE FUNCTION haltline_halt_events_settled_once() RETURNS trigger LANGUAGE plpgsql
SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF (
        (NEW.id, NEW.session_id, NEW.task_id, NEW.halt_type, NEW.severity, NEW.condition_name,
           NEW.description, NEW.context, NEW.triggered_at, NEW.created_at, NEW.attempt_count,
           NEW.previous_error, NEW.action_digest, NEW.evidence_digest, NEW.single_use,
           NEW.auto_recorded, NEW.auto_escalate, NEW.escalate_after_minutes, NEW.escalate_at)
        IS NOT DISTINCT FROM
        (OLD.id, OLD.session_id, OLD.task_id, OLD.halt_type, OLD.severity, OLD.condition_name,
           OLD.description, OLD.context, OLD.triggered_at, OLD.created_at, OLD.attempt_count,
           OLD.previous_error, OLD.action_digest, OLD.evidence_digest, OLD.single_use,
           OLD.auto_recorded, OLD.auto_escalate, OLD.escalate_after_minutes, OLD.escalate_at)
        AND (
            (NOT OLD.acknowledged AND OLD.resolution IS NULL AND (
                (NEW.acknowledged AND NEW.resolution IN ('resolved', 'escalated', 'dismissed'))
                OR (NOT NEW.acknowledged AND NEW.resolution = 'timeout')))
            OR (OLD.resolution IN ('escalated', 'timeout')
                AND NEW.acknowledged AND NEW.resolution IN ('resolved', 'dismissed'))
        )
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'haltline immutable: a halt changes only when it is settled, and is settled once' USING ERRCODE = 'HL001';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER halt_events_settled_once BEFORE UPDATE ON halt_events
    FOR EACH ROW EXECUTE FUNCTION haltline_halt_events_settled_once();

CREATE FUNCTION haltline_halt_events_not_overwritten() RETURNS trigger LANGUAGE plpgsql
SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM halt_events_archive AS a WHERE a.id = NEW.id) THEN
        RAISE EXCEPTION 'haltline immutable: a halt with this id exists' USING ERRCODE = 'HL001';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER halt_events_not_overwritten BEFORE INSERT ON halt_events
    FOR EACH ROW EXECUTE FUNCTION haltline_halt_events_not_overwritten();

CREATE FUNCTION haltline_halt_events_only_archived_deleted() RETURNS trigger LANGUAGE plpgsql
SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF (
        (OLD.severity = 'low' OR (OLD.acknowledged AND OLD.resolution <> 'escalated'))
        AND EXISTS (
            SELECT 1 FROM halt_events_archive AS a WHERE a.id = OLD.id AND ROW(a.*) IS NOT DISTINCT FROM ROW(OLD.*)
        )
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'haltline immutable: only a settled halt that lies in the archive may be deleted' USING ERRCODE = 'HL001';
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER halt_events_only_archived_deleted BEFORE DELETE ON halt_events
    FOR EACH ROW EXECUTE FUNCTION haltline_halt_events_only_archived_deleted();

CREATE FUNCTION haltline_halt_events_archive_only_settled() RETURNS trigger LANGUAGE plpgsql
SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF (
        (NEW.severity = 'low' OR (NEW.acknowledged AND NEW.resolution <> 'escalated'))
        AND EXISTS (
            SELECT 1 FROM halt_events AS h WHERE h.id = NEW.id AND ROW(h.*) IS NOT DISTINCT FROM ROW(NEW.*)
        )
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'haltline immutable: the archive takes settled halts exactly as they are, once' USING ERRCODE = 'HL001';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER halt_events_archive_only_settled BEFORE INSERT ON halt_events_archive
    FOR EACH ROW EXECUTE FUNCTION haltline_halt_events_archive_only_settled();

CREATE FUNCTION haltline_audit_log_appended() RETURNS trigger LANGUAGE plpgsql
SET search_path = @schema@, pg_temp AS $$
DECLARE last record;
BEGIN
    SELECT sequence, hash INTO last FROM audit_log ORDER BY sequence DESC LIMIT 1;
    IF (
        NEW.sequence = coalesce(last.sequence, 0) + 1
        AND NEW.previous_hash = coalesce(last.hash, '0000000000000000000000000000000000000000000000000000000000000000')
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'haltline immutable: the audit log grows by its next link only' USING ERRCODE = 'HL001';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_log_appended BEFORE INSERT ON audit_log
    FOR EACH ROW EXECUTE FUNCTION haltline_audit_log_appended();

CREATE FUNCTION haltline_refuse() RETURNS trigger LANGUAGE plpgsql
SET search_path = @schema@, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'haltline immutable: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'HL001';
END
$$;
CREATE TRIGGER halt_events_archive_not_changed BEFORE UPDATE OR DELETE ON halt_events_archive
    FOR EACH ROW EXECUTE FUNCTION haltline_refuse();
CREATE TRIGGER audit_log_not_changed BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION haltline_refuse();
CREATE TRIGGER halt_events_not_truncated BEFORE TRUNCATE ON halt_events
    FOR EACH STATEMENT EXECUTE FUNCTION haltline_refuse();
CREATE TRIGGER halt_events_archive_not_truncated BEFORE TRUNCATE ON halt_events_archive
    FOR EACH STATEMENT EXECUTE FUNCTION haltline_refuse();
CREATE TRIGGER audit_log_not_truncated BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION haltline_refuse();
