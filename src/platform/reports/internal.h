/* internal.h - what the files of reports/ share. */
#ifndef PLATFORM_REPORTS_INTERNAL_H
#define PLATFORM_REPORTS_INTERNAL_H

#include "api/hooks.h"
#include "platform/reports/reports.h"

/* The id of the caller's report of that message, or 0. */
enum err report_of(struct tx *tx, snowflake reporter, snowflake message, snowflake *ret);
enum err report_insert(struct tx *tx, const struct report *r);
/* Reports that the account made lose its id and its words; closed ones about it are deleted. */

#endif
