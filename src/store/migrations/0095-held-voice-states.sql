-- expand: servers of the version before leave it 0.
-- After a restart a voice state stays until then for the session that holds it: it may be resumed.
alter table voice_states add column held_until bigint not null default 0;
-- When its session last asked for the channel that it is in and has a socket for, in microseconds.
alter table voice_states add column asked_at bigint not null default 0;
