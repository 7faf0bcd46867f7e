/* rules.h - stream keys, and the maximum number of viewers of a stream. */
#ifndef VOICE_STREAMS_RULES_H
#define VOICE_STREAMS_RULES_H

#include <stdbool.h>

#include "base/snowflake.h"
#include "base/str.h"

/* Key of a stream: "guild:GUILD:CHANNEL:OWNER" or "call:CHANNEL:OWNER". */
struct stream_key {
    snowflake guild_id; /* 0 for a private call */
    snowflake channel_id, owner_id;
};

/* Parses a stream key strictly: decimal numbers without signs or leading zeros. */
bool stream_key_parse(struct str text, struct stream_key *ret);
struct str stream_key_format(struct arena *a, const struct stream_key *k);

enum { STREAM_MAX_VIEWERS = 50 };

#endif
