/* internal.h - declarations shared by the files of reports/. */
#ifndef PLATFORM_REPORTS_INTERNAL_H
#define PLATFORM_REPORTS_INTERNAL_H

#include "api/hooks.h"
#include "platform/reports/reports.h"

/* Reads the id of the report that this user has sent about the message; 0 if there is none. */
enum err report_find_of_reporter(struct tx *tx, snowflake reporter, snowflake message,
                                 snowflake *ret);
enum err report_insert(struct tx *tx, const struct message_report *r);

/* --- safety_hub.c ------------------------------------------------------------------------ */

extern const struct type safety_hub_reply;
enum err get_safety_hub(struct call *call);

#endif
