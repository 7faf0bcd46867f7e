-- expand: servers of the version before leave them empty.
-- What the client of somebody in voice says of itself, and what it runs on (0: desktop, 1: mobile).
alter table voice_states add column flags bigint;
alter table voice_states add column platform bigint;
