/* ready.c - writes the fields of READY about an account. */
#include "gateway/capabilities.h"
#include "gateway_source/gateway_source.h"
#include "integrations/connections/connected.h"
#include "model/configured/regions.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/settings.h"
#include "platform/channels/channels.h"
#include "platform/guild_settings/guild_settings.h"
#include "platform/guilds/guilds.h"
#include "platform/read_states/read_states.h"
#include "platform/relationships/friends.h"

static void ready_raw(struct json *out, const char *name, const char *value)
{
    json_key(out, str_of(name));
    json_raw(out, str_of(value));
}

static void empty_lists(struct json *out, const char *const *names)
{
    for (; *names; names++)
        ready_raw(out, *names, "[]");
}

static void write_private_channel(void *arg, const struct channel *c, struct json *out)
{
    shape_private_channel(arg, c, out);
}

static enum err write_private_channels(struct tx *tx, const struct gateway_viewer *v,
                                       struct json *out)
{
    json_name(out, "private_channels");
    return user_channels_write(tx, v->user_id, write_private_channel, v->shape, out);
}

static const char NOTES_OF[] = "select target_id, note from notes where user_id = $1";

static enum err write_notes(struct tx *tx, snowflake user_id, struct json *out)
{
    struct rows rows;
    enum err e = tx_query(tx, NOTES_OF, BIND(v_id(user_id)), &rows);

    if (e)
        return e;
    json_name(out, "notes");
    json_object(out);
    while (rows_next(&rows)) {
        char id[SNOWFLAKE_TEXT + 4];
        struct buf key = { id, 0, sizeof id, sizeof id, false };

        buf_add_u64(&key, row_id(&rows, 0));
        json_key(out, buf_str(&key));
        json_text(out, row_text(&rows, 1));
    }
    json_object_end(out);
    return rows_end(&rows);
}

/* Writes the ids of voice regions, the optimal region first. */
static void write_regions(struct str address, struct json *out)
{
    struct arena *arena = arena_new();
    struct list regions = regions_for(arena, address, false);
    const struct region *r = regions.items;
    struct str optimal = region_optimal(address, false);

    json_name(out, "geo_ordered_rtc_regions");
    json_array(out);
    json_text(out, optimal);
    for (size_t i = 0; i < regions.count; i++)
        if (!r[i].optimal)
            json_text(out, r[i].id);
    json_array_end(out);
    arena_free(arena);
}

/* Writes the fields that bots and users get and that do not depend on the account. */
static void write_fixed(struct str address, struct json *out)
{
    static const char *const lists[] = { "guild_join_requests", NULL };

    empty_lists(out, lists);
    write_regions(address, out);
}

static enum err write_bot(struct json *out)
{
    static const char *const lists[] = { "private_channels", "relationships", "presences", NULL };

    empty_lists(out, lists);
    ready_raw(out, "user_settings", "{}");
    return OK;
}

static enum err write_settings(struct tx *tx, snowflake user_id, struct json *out)
{
    struct user_settings settings;
    enum err e = settings_find(tx, user_id, &settings);

    if (e)
        return e;
    json_name(out, "user_settings");
    schema_encode_object(out, &user_settings_schema, &settings);
    return OK;
}

static enum err write_person(struct tx *tx, const struct gateway_viewer *v, struct json *out)
{
    static const char *const lists[] = { "linked_users", "experiments", "guild_experiments", NULL };
    enum err e = write_private_channels(tx, v, out);

    if (!e && !(v->capabilities & CAPABILITY_NO_NOTES))
        e = write_notes(tx, v->user_id, out);
    if (!e)
        e = ready_relationships(tx, v->user_id, v->shape, out);
    if (!e)
        e = connections_write(tx, v->user_id, out);
    if (!e && !(v->capabilities & CAPABILITY_NO_SETTINGS))
        e = write_settings(tx, v->user_id, out);
    if (!e)
        e = ready_read_states(tx, v->user_id, v->capabilities & CAPABILITY_READ_STATE,
                              v->capabilities & CAPABILITY_OTHER_STATES, out);
    if (!e)
        e = ready_guild_settings(tx, v->user_id, v->capabilities & CAPABILITY_GUILD_SETTINGS, out);
    if (!e)
        e = ready_settings_proto(tx, v->user_id, out);
    if (e)
        return e;
    empty_lists(out, lists);
    if (!shape_refers(v->shape))
        ready_raw(out, "users", "[]");
    ready_raw(out, "consents", "{\"personalization\":{\"consented\":false}}");
    ready_raw(out, "auth", "{\"authenticator_types\":[]}");
    ready_raw(out, "analytics_token", "\"\"");
    ready_raw(out, "country_code", "\"ZZ\"");
    ready_raw(out, "tutorial", "null");
    ready_raw(out, "api_code_version", "1");
    ready_raw(out, "explicit_content_scan_version", "0");
    ready_raw(out, "ad_personalization_toggles_disabled", "true");
    ready_raw(out, "broadcaster_user_ids", "[]");
    ready_raw(out, "regional_feature_config",
              "{\"age_gated_features\":0,\"teen_by_default_settings\":0}");
    return OK;
}

enum err gateway_ready(struct tx *tx, const struct gateway_viewer *v, struct json *out)
{
    struct user_in_ready person = { .user = *v->user, .pronouns = v->user->pronouns };

    json_name(out, "user");
    if (v->bot)
        schema_encode_object(out, &own_user_schema, v->user);
    else
        schema_encode_object(out, &user_in_ready_schema, &person);
    write_fixed(str_of(v->address), out);
    return v->bot ? write_bot(out) : write_person(tx, v, out);
}
