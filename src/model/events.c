/* events.c - the names of events. */
#include "model/events.h"

#include <stddef.h>

static const struct {
    const char *name, *doc;
} infos[] = {
    [EVENT_NONE] = { "NONE", "" },
#define EVENT(name, doc) { #name, doc },
#include "model/events.def"
#undef EVENT
};

const char *event_name(enum event e)
{
    return infos[e].name;
}

const char *event_doc(enum event e)
{
    return infos[e].doc;
}
