/* reports.h - people report messages to the operator.
 *
 * A report holds the message as it was. The operator lists, shows and closes reports by orders
 * (admin/orders/reports.c); a closed one is deleted REPORT_KEPT_DAYS later. It owns the table
 * reports and may use messages and channels. Begin reading with routes.c. */
#ifndef PLATFORM_REPORTS_REPORTS_H
#define PLATFORM_REPORTS_REPORTS_H

#include "api/route.h"
#include "api/call.h"

enum { REPORT_KEPT_DAYS = 90 };

struct report {
    snowflake id, reporter_id; /* reporter_id 0: its account was erased */
    snowflake message_id, channel_id, guild_id, author_id;
    struct str reason, comment, snapshot;
    int64_t closed_at; /* 0: open */
    struct str resolution;
};

/* Open ones, by id. */
enum err reports_open(struct tx *tx, snowflake after, int64_t limit, struct list *ret);
/* ERR_NOT_FOUND */
enum err report_find(struct tx *tx, snowflake id, struct report *ret);
/* Closing it again changes the resolution. */
enum err report_close(struct tx *tx, snowflake id, unsigned uid, struct str resolution);

extern const struct domain reports_domain;

#endif
