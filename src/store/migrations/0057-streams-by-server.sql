-- Connections of a stream name its server.
create index streams_by_server on streams (rtc_server_id);
