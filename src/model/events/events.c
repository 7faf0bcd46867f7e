/* events.c - name, documentation, intents and flags of each gateway event. */
#include "model/events/events.h"

#include <stddef.h>

static const struct event_type_properties infos[] = {
    [EVENT_NONE] = { "NONE", "", 0, 0 },
#define EVENT(name, intents, flags, doc) { #name, doc, intents, EVENT_##flags },
#include "model/events/events.def"
#undef EVENT
};

const struct event_type_properties *get_properties_of_event_type(enum event e)
{
    return &infos[e];
}

const char *get_name_of_event_type(enum event e)
{
    return infos[e].name;
}

enum event find_event_type_by_name(struct str name)
{
    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++)
        if (str_is(name, get_name_of_event_type((enum event)e)))
            return (enum event)e;
    return EVENT_NONE;
}

const char *get_description_of_event_type(enum event e)
{
    return infos[e].doc;
}

void intent_set_append_names(struct buf *out, unsigned intents)
{
    const char *comma = "";

    if (!intents)
        buf_add_lit(out, "none");
#define INTENT_ROW(bit, name)                  \
    if (intents >> (bit)&1) {                  \
        buf_printf(out, "%s%s", comma, #name); \
        comma = ", ";                          \
    }
#include "model/events/intents.def"
#undef INTENT_ROW
}
