/* internal.h - what the files of widgets/ share. */
#ifndef PLATFORM_WIDGETS_INTERNAL_H
#define PLATFORM_WIDGETS_INTERNAL_H

#include "platform/guilds/guilds.h"
#include "platform/widgets/widgets.h"

/* Members are looked at in the order of their ids, so many of them at most: a widget is for
 * anybody, and its guild may have half a million. */
enum { WIDGET_LOOKED_AT = 1000, WIDGET_SHOWN = 100 };

/* --- picture.c ------------------------------------------------------------------------ */

struct widget_picture_query {
    struct str style;
};
extern const struct schema widget_picture_query_schema;
enum err get_guild_widget_picture(struct call *call);

#endif
