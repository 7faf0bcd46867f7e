/* reports.h - reports of messages to the operator. A report contains a copy of the message at the
 * time of the report. The operator lists, shows and closes reports with operator commands
 * (admin/operator_commands/reports.c). A closed report is deleted after REPORT_RETENTION_DAYS. Owns
 * the table reports. May include threads/ and lower layers. Start with routes.c. */
#ifndef PLATFORM_REPORTS_REPORTS_H
#define PLATFORM_REPORTS_REPORTS_H

#include "api/route.h"
#include "api/call.h"

enum { REPORT_RETENTION_DAYS = 90 };

struct message_report {
    snowflake id, reporter_id; /* reporter_id is 0 if the account was deleted */
    snowflake message_id, channel_id, guild_id, author_id;
    struct str reason, comment, snapshot;
    int64_t closed_at; /* microseconds since 1970; 0 while the report is open */
    struct str resolution;
};

/* Reads open reports with ids above `after`, sorted by id. */
enum err list_open_reports(struct tx *tx, snowflake after, int64_t limit, struct list *ret);
/* Reads a report. Returns ERR_NOT_FOUND if it does not exist. */
enum err report_find(struct tx *tx, snowflake id, struct message_report *ret);
/* Closes a report. If the report is already closed, only changes its resolution. */
enum err report_close_with_resolution(struct tx *tx, snowflake id, unsigned uid,
                                      struct str resolution);

extern const struct domain reports_domain;

#endif
