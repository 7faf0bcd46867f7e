-- What the patterns of a rule cost each character of a message; of rules from before: 0, and what
-- is too much of them is left out when they are compiled.
alter table automod_rules add column pattern_cost bigint not null default 0;
