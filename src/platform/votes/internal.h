/* internal.h - declarations shared by the files of votes/. */
#ifndef PLATFORM_VOTES_INTERNAL_H
#define PLATFORM_VOTES_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/polls/polls.h"
#include "platform/votes/votes.h"

bool poll_has_ended(const struct poll *poll);

/* --- vote_route.c --------------------------------------------------------------------- */

struct poll_vote_body {
    struct list answer_ids; /* int64_t */
};
enum err choose_poll_answers(struct call *call);
/* Saves all answers of a voter as a bit set: bit i is set if the voter has chosen answer i + 1. */
enum err poll_voter_save(struct tx *tx, snowflake message_id, snowflake user_id, int64_t answers);
/* Adds or removes one vote and updates the answer's count. Emits no event. */
enum err poll_vote_change(struct tx *tx, snowflake message_id, int64_t answer_id, snowflake user_id,
                          bool chosen);

/* --- end.c ---------------------------------------------------------------------------- */

enum err end_poll(struct call *call);
/* Schedules the job that ends the poll at its expiry. */
enum err poll_schedule_end(struct call *call, const struct message *m);
/* Deletes the poll of a deleted message; a job deletes the votes in steps. */
enum err poll_delete_with_message(struct call *call, const snowflake *message_id);
extern const struct job_kind poll_end_job, poll_votes_delete_job;

#endif
