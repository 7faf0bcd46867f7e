/* internal.h - declarations shared by the files of announcement_channels/. */
#ifndef PLATFORM_ANNOUNCEMENT_CHANNELS_INTERNAL_H
#define PLATFORM_ANNOUNCEMENT_CHANNELS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/messages/messages.h"
#include "platform/announcement_channels/announcement_channels.h"
#include "platform/webhooks/webhooks.h"

/* --- message_copies.c ----------------------------------------------------------------- */

/* Schedules the job that copies the message to all followers of its channel. */
enum err crosspost_schedule_publishing_copies(struct call *call, const struct message *m);
/* Hooks that run when a message is edited or deleted. After an edit they schedule a job that
 * updates the copies; after a deletion, a job that removes the content of the copies. */
enum err crosspost_schedule_updating_copies(struct call *call, const struct message *m);
enum err crosspost_schedule_emptying_of_copies(struct call *call, const snowflake *message_id);
extern const struct job_kind announcement_publish_job, announcement_update_job,
    announcement_clear_job;

#endif
