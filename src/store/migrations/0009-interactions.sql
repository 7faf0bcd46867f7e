-- What people asked of apps. Its token follows from the id and the server's key, so none
-- is kept; its time is in the id. Rows go an hour after that.
-- owner: interactions
-- deletion: application_id, channel_id, guild_id, user_id: a job deletes old ones
-- world: no, because it is valid for minutes
-- export: no, because it is answered and forgotten
create table interactions (
    id {id},
    type bigint not null,                  -- 2 command, 3 component, 4 autocomplete, 5 modal
    application_id bigint not null,
    user_id bigint not null,
    channel_id bigint not null,
    guild_id bigint,
    context bigint not null,               -- 0 guild, 1 direct channel with the bot, 2 other private ones
    owners text not null,                  -- JSON: authorizing_integration_owners
    locale text not null,
    nonce text,                            -- JSON, as sent
    session text,                          -- the gateway session that is told; null: all of the account's
    command_id bigint,
    command_type bigint,
    handler bigint,                        -- of entry points
    name text,                             -- "command group subcommand"
    target_id bigint,                      -- of commands on users and messages
    focused_type bigint,                   -- of the option that is being typed
    message_id bigint,                     -- whose component was used, also before a modal
    opener_id bigint,                      -- the interaction that a submitted modal answers
    state bigint not null default 0,       -- 0 waits, 1 acknowledged, 2 failed
    callback_type bigint,
    response_id bigint,                    -- the message behind @original
    ephemeral bigint not null default 0,   -- of the answer, fixed by the callback
    follow_ups bigint not null default 0,
    modal text                             -- JSON: the modal, until it is submitted
);

create index interactions_by_nonce on interactions (user_id, nonce) where nonce is not null;

-- Files that came with an option or a modal.
-- owner: interactions
-- deletion: channel_id: they go with their interaction
-- world: no, because files stay behind
create table interaction_files (
    id {id},
    interaction_id bigint not null references interactions (id) on delete cascade,
    channel_id bigint not null,
    filename text not null,
    description text,
    content_type text,
    size bigint not null,
    width bigint,
    height bigint
);

create index interaction_files_by_interaction on interaction_files (interaction_id);
