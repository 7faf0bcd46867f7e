/* identification.c - parses and checks the fields of IDENTIFY: shard, intents, guild count. */
#include "gateway/identify/identification.h"

#include "base/mem.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/dialects.h"
#include "gateway/wire/messages.h"
#include "gateway/wire/protocol.h"
#include "json/read.h"

enum { SHARDS_MAX = 16384 };

/* Application flags that allow each privileged intent: for verified bots and for small bots. */
static const struct {
    unsigned intent;
    int64_t flags;
} privileged_intent_flags[] = {
    { INTENT(GUILD_PRESENCES), 1 << 12 | 1 << 13 },
    { INTENT(GUILD_MEMBERS), 1 << 14 | 1 << 15 },
    { INTENT(MESSAGE_CONTENT), 1 << 18 | 1 << 19 },
};

static bool parse_shard(struct str raw, struct arena *arena, int64_t shard[2])
{
    struct json_reader r;
    struct str item;
    int count = 0;

    json_reader_init(&r, raw, arena);
    if (json_peek_kind(&r) != JSON_ARRAY)
        return false;
    for (json_enter_container(&r); json_next_item(&r); count++)
        if (count == 2 || !json_skip_value(&r, &item) || !json_parse_int_text(item, &shard[count]))
            return false;
    return count == 2 && shard[1] >= 1 && shard[1] <= SHARDS_MAX && shard[0] >= 0 &&
           shard[0] < shard[1];
}

static bool is_present_and_not_null(struct str raw)
{
    return raw.p && !str_is(raw, "null");
}

/* Stores the client's "os|browser|device", for lists of sessions. */
static void store_client_name(struct parsed_identify_fields *i, const struct client_properties *c)
{
    struct str parts[] = { c->os, c->browser, c->device };
    size_t n = 0;

    for (size_t k = 0; k < COUNT_OF(parts); k++) {
        struct str s = parts[k];
        size_t room = sizeof i->client - 2 - n;

        if (s.n >= 2 && s.p[0] == '"')
            s = str_slice(s.p + 1, s.n - 2);
        for (size_t at = 0; at < s.n && at < 20 && room--; at++)
            i->client[n++] = s.p[at] >= ' ' && s.p[at] < 127 && s.p[at] != '"' && s.p[at] != '\\'
                                 ? s.p[at]
                                 : '_';
        if (k < 2)
            i->client[n++] = '|';
    }
}

void identify_fields_parse(struct parsed_identify_fields *i, struct arena *arena,
                           const struct identify_message *d)
{
    i->has_shard = is_present_and_not_null(d->shard);
    i->bad_shard = i->has_shard && !parse_shard(d->shard, arena, i->shard);
    i->has_intents = is_present_and_not_null(d->intents);
    i->bad_intents = i->has_intents && (!json_parse_int_text(d->intents, &i->intents) ||
                                        i->intents < 0 || i->intents >> INTENT_BITS);
    i->compress = d->compress.given == GIVEN && d->compress.value;
    i->large_threshold = d->large_threshold.given == GIVEN ? d->large_threshold.value : 0;
    i->capabilities = d->capabilities.given == GIVEN ? d->capabilities.value : 0;
    i->status = PRESENCE_ONLINE;
    buf_init(&i->activities, MAX_FROM_USER);
    if (d->presence) {
        i->status = (unsigned char)parse_presence_status(d->presence->status, PRESENCE_ONLINE);
        buf_add_str(&i->activities, presence_encode_activities_json(d->presence));
    }
    if (d->properties)
        store_client_name(i, d->properties);
    if (!i->has_shard || i->bad_shard) {
        i->shard[0] = 0;
        i->shard[1] = 1;
    }
}

enum { VERSION_WITH_INTENTS = 8, VERSION_WITH_CONTENT_INTENT = 10 };

static int gateway_version_of_socket(const struct parsed_identify_fields *i)
{
    return i->authentication.socket->dialect->version;
}

/* Returns the intents of the session. Before API version 8 clients do not send intents: a bot
 * receives all events that its application allows. Before version 10 only the application's flag
 * decides whether a bot gets message content. */
uint32_t identify_fields_get_intents(const struct parsed_identify_fields *i)
{
    uint32_t intents = (uint32_t)i->intents, allowed = ~0u;

    if (i->authentication.caller.kind != CALLER_BOT)
        return intents;
    for (size_t k = 0; k < COUNT_OF(privileged_intent_flags); k++)
        if (!(i->authentication.application_flags & privileged_intent_flags[k].flags))
            allowed &= ~privileged_intent_flags[k].intent;
    if (!i->has_intents)
        intents = allowed & ((1u << INTENT_BITS) - 1);
    else if (gateway_version_of_socket(i) < VERSION_WITH_CONTENT_INTENT)
        intents |= INTENT(MESSAGE_CONTENT) & allowed;
    /* Remove intents that only users may have, because some libraries set them for bots. */
    return intents & ~INTENTS_USER_ONLY;
}

/* Returns the requested privileged intents that the application has not enabled. */
static unsigned find_forbidden_intents(const struct parsed_identify_fields *i)
{
    unsigned forbidden = 0;

    for (size_t k = 0; k < COUNT_OF(privileged_intent_flags); k++)
        if (i->intents & privileged_intent_flags[k].intent &&
            !(i->authentication.application_flags & privileged_intent_flags[k].flags))
            forbidden |= privileged_intent_flags[k].intent;
    return forbidden;
}

static enum gateway_close_code refuse_forbidden_intents(const struct parsed_identify_fields *i)
{
    if (i->bad_intents)
        return CLOSE_BAD_INTENTS;
    if (i->authentication.caller.kind != CALLER_BOT)
        return 0;
    if (!i->has_intents)
        return gateway_version_of_socket(i) < VERSION_WITH_INTENTS ? 0 : CLOSE_BAD_INTENTS;
    return find_forbidden_intents(i) ? CLOSE_FORBIDDEN_INTENTS : 0;
}

static unsigned max_guilds_per_shard(const struct parsed_identify_fields *i)
{
    unsigned max = i->authentication.socket->gateway_loop->gateway->options.max_guilds;

    return max ? max : 2500;
}

static bool shard_has_too_many_guilds(const struct parsed_identify_fields *i)
{
    const snowflake *ids = i->authentication.guilds.items;
    size_t covered = 0;

    for (size_t k = 0; k < i->authentication.guilds.count; k++)
        covered += (ids[k] >> 22) % (uint64_t)i->shard[1] == (uint64_t)i->shard[0];
    return i->authentication.caller.kind == CALLER_BOT && covered > max_guilds_per_shard(i);
}

enum gateway_close_code identify_fields_get_close_code(const struct parsed_identify_fields *i)
{
    if (i->bad_shard)
        return CLOSE_BAD_SHARD;
    enum gateway_close_code code = refuse_forbidden_intents(i);
    if (code)
        return code;
    return shard_has_too_many_guilds(i) ? CLOSE_NEEDS_SHARDS : 0;
}

const char *get_reason_of_identify_close_code(enum gateway_close_code code)
{
    switch (code) {
    case CLOSE_BAD_SHARD:
        return "invalid shard";
    case CLOSE_BAD_INTENTS:
        return "invalid intents";
    case CLOSE_FORBIDDEN_INTENTS:
        return "disallowed intents";
    case CLOSE_NEEDS_SHARDS:
        return "sharding required";
    default:
        return "too many sessions";
    }
}

struct str identify_fields_explain_close_code(const struct parsed_identify_fields *i,
                                              enum gateway_close_code code, struct arena *arena)
{
    struct buf names;

    switch (code) {
    case CLOSE_BAD_SHARD:
        return STR("'shard' must be [id, count] with 0 <= id < count");
    case CLOSE_BAD_INTENTS:
        return i->has_intents
                   ? str_printf(arena,
                                "'intents' is %lld, which has bits that no intent has, or is no "
                                "number; add up the values of the intents",
                                (long long)i->intents)
                   : STR("IDENTIFY has no 'intents'; a bot must declare them since version 8");
    case CLOSE_FORBIDDEN_INTENTS:
        buf_init(&names, 1024);
        intent_set_append_names(&names, find_forbidden_intents(i));
        struct str text =
            str_printf(arena,
                       "the bot asks for %.*s, which its application has not enabled; enable the "
                       "privileged intents in the settings of the application, or do not ask for "
                       "them",
                       STR_ARGS(buf_as_str(&names)));
        buf_clear(&names);
        return text;
    case CLOSE_NEEDS_SHARDS:
        return STR("the bot is in more servers than one session may have; use more shards "
                   "(GET /gateway/bot has the number)");
    default:
        return STR("the account has too many sessions; close old ones, and resume instead of "
                   "identifying again");
    }
}

void identify_fields_free(struct parsed_identify_fields *i)
{
    buf_clear(&i->activities);
    buf_clear(&i->own_fields);
    gateway_event_unref(i->ready);
    gateway_event_unref(i->more);
    mem_free(i->guild_setups);
    mem_free(i);
}
