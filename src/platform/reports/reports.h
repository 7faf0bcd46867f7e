/* reports.h - reports of messages to the operator. A report contains a snapshot of the message. The
 * operator lists, shows and closes reports with operator commands
 * (admin/operator_commands/reports.c); a closed report is deleted after REPORT_RETENTION_DAYS.
 * Start with routes.c. */
#ifndef PLATFORM_REPORTS_REPORTS_H
#define PLATFORM_REPORTS_REPORTS_H

#include "api/route.h"
#include "api/call.h"

enum { REPORT_RETENTION_DAYS = 90 };

struct report {
    snowflake id, reporter_id; /* reporter_id 0: the account is deleted */
    snowflake message_id, channel_id, guild_id, author_id;
    struct str reason, comment, snapshot;
    int64_t closed_at; /* 0: the report is open */
    struct str resolution;
};

/* Reads open reports, by id. */
enum err reports_read_open(struct tx *tx, snowflake after, int64_t limit, struct list *ret);
/* ERR_NOT_FOUND: there is no such report. */
enum err report_find(struct tx *tx, snowflake id, struct report *ret);
/* Closes a report; if the report is closed already, changes its resolution. */
enum err report_close(struct tx *tx, snowflake id, unsigned uid, struct str resolution);

extern const struct domain reports_domain;

#endif
