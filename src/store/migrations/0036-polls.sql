-- Polls: what they ask, who chose which answer, and how many did.
alter table messages add column polled bigint not null default 0; -- it has a poll

-- owner: platform/polls
-- world: messages.poll
create table polls (
    message_id bigint not null primary key,
    question text not null,
    answers text not null, -- JSON
    expires_at bigint not null,
    allow_multiselect bigint not null,
    final_counts text -- JSON; null: it goes on
);

-- A row for each lane of the store that has counted: many choose at once.
-- owner: platform/polls
-- world: messages.poll
create table poll_counts (
    message_id bigint not null,
    answer_id bigint not null,
    lane bigint not null,
    votes bigint not null,
    primary key (message_id, answer_id, lane)
) {clustered};

-- What somebody chose, a bit for each answer; and the same by answer, for lists.
-- owner: platform/polls
-- deletion: user_id: stays, because votes stay
-- world: messages.poll
-- export: no, because it holds no more than ids
create table poll_voters (
    message_id bigint not null,
    user_id bigint not null,
    answers bigint not null,
    primary key (message_id, user_id)
) {clustered};

-- owner: platform/polls
-- deletion: user_id: stays, because votes stay
-- world: messages.poll
-- export: no, because it holds no more than ids
create table poll_votes (
    message_id bigint not null,
    answer_id bigint not null,
    user_id bigint not null,
    primary key (message_id, answer_id, user_id)
) {clustered};
