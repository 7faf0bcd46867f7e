/* internal.h - declarations shared by the files of news/. */
#ifndef PLATFORM_NEWS_INTERNAL_H
#define PLATFORM_NEWS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/messages/messages.h"
#include "platform/news/news.h"
#include "platform/webhooks/webhooks.h"

/* --- copies.c ------------------------------------------------------------------------- */

/* Schedules the job that copies the message to all followers of its channel. */
enum err copies_begin(struct call *call, const struct message *m);
/* Hooks that schedule the update or clearing of the copies if the source changes. */
enum err copies_change(struct call *call, const struct message *m);
enum err copies_end(struct call *call, const snowflake *message_id);
extern const struct job_kind news_publish, news_change, news_end;

#endif
