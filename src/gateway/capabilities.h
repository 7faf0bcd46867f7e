/* capabilities.h - READY in the forms that newer clients of people ask for. */
#ifndef GATEWAY_CAPABILITIES_H
#define GATEWAY_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/snowflake.h"

/* Bits of op 2's capabilities; others mean nothing here. */
enum capability {
    CAPABILITY_NO_NOTES = 1 << 0,
    CAPABILITY_READ_STATE = 1 << 2,     /* read_state with entries, partial, version */
    CAPABILITY_GUILD_SETTINGS = 1 << 3, /* user_guild_settings likewise */
    CAPABILITY_USERS = 1 << 4,          /* users stand once, others refer to them */
    CAPABILITY_SUPPLEMENTAL = 1 << 5,   /* with the one above: READY_SUPPLEMENTAL follows */
    CAPABILITY_NO_SETTINGS = 1 << 9,    /* no user_settings and no news of them */
    CAPABILITY_PROPERTIES = 1 << 10,    /* a guild's own fields under "properties" */
    CAPABILITY_CALLS = 1 << 12,         /* is told of the calls that run */
    /* Those that READY itself depends on. */
    CAPABILITIES_KNOWN = CAPABILITY_NO_NOTES | CAPABILITY_READ_STATE | CAPABILITY_GUILD_SETTINGS |
                         CAPABILITY_USERS | CAPABILITY_SUPPLEMENTAL | CAPABILITY_NO_SETTINGS |
                         CAPABILITY_PROPERTIES,
};

bool capabilities_supplement(int64_t capabilities);
/* Appends READY as the capabilities want it, made from the plain one; where they want it,
 * READY_SUPPLEMENTAL too. False: the plain one could not be read, nothing is of use. */
bool capabilities_apply(int64_t capabilities, struct str plain, snowflake own, struct arena *arena,
                        struct buf *ready, struct buf *supplemental);

#endif
