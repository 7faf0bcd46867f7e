/* internal.h - declarations shared by the files of widgets/. */
#ifndef PLATFORM_WIDGETS_INTERNAL_H
#define PLATFORM_WIDGETS_INTERNAL_H

#include "platform/guilds/guilds.h"
#include "platform/widgets/widgets.h"

/* WIDGET_MAX_MEMBERS_READ: number of members, lowest ids first, that are checked for being online.
 * It is limited, because anybody may request a widget and a guild may have 500,000 members. */
enum { WIDGET_MAX_MEMBERS_READ = 1000, WIDGET_MAX_MEMBERS = 100 };

/* --- picture.c ------------------------------------------------------------------------ */

struct widget_picture_query {
    struct str style;
};
extern const struct schema widget_picture_query_schema;
enum err get_guild_widget_picture(struct call *call);

#endif
