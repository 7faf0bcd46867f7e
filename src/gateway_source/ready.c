/* ready.c - writes the fields of READY about an account. */
#include "gateway/capabilities.h"
#include "gateway_source/gateway_source.h"
#include "integrations/connections/connection_rows.h"
#include "model/configured/regions.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/settings/settings.h"
#include "platform/channels/channels.h"
#include "platform/guild_settings/guild_settings.h"
#include "platform/guilds/guilds.h"
#include "platform/read_states/read_states.h"
#include "platform/relationships/friends.h"
#include "store/result_cache.h"

enum { SETTINGS_MAX_BYTES = 64 * 1024 * 1024 }; /* as of READY */

static void write_raw_json_field(struct json_writer *out, const char *name, const char *value)
{
    json_write_key(out, str_of(name));
    json_write_raw(out, str_of(value));
}

static void write_empty_list_fields_json(struct json_writer *out, const char *const *names)
{
    for (; *names; names++)
        write_raw_json_field(out, *names, "[]");
}

static void write_private_channel_json(void *arg, const struct channel *c, struct json_writer *out)
{
    write_ready_private_channel_json(arg, c, out);
}

static enum err write_private_channels_json(struct tx *tx, const struct payload_recipient *v,
                                            struct json_writer *out)
{
    json_write_name(out, "private_channels");
    return write_user_private_channels_json(tx, v->user_id, write_private_channel_json,
                                            v->ready_writer, out);
}

static enum err write_auth_json(struct tx *tx, snowflake user_id, struct json_writer *out)
{
    json_write_name(out, "auth");
    json_begin_object(out);
    json_write_name(out, "authenticator_types");
    enum err e = write_authenticator_types_json(tx, user_id, out);
    json_end_object(out);
    return e;
}

static const char SELECT_NOTES[] = "select target_id, note from notes where user_id = $1";

static enum err write_notes_json(struct tx *tx, snowflake user_id, struct json_writer *out)
{
    struct rows rows;
    enum err e = tx_query(tx, SELECT_NOTES, BIND(v_id(user_id)), &rows);

    if (e)
        return e;
    json_write_name(out, "notes");
    json_begin_object(out);
    while (rows_next(&rows)) {
        char id[SNOWFLAKE_TEXT_SIZE + 4];
        struct buf key = { id, 0, sizeof id, sizeof id, false };

        buf_add_u64(&key, row_id(&rows, 0));
        json_write_key(out, buf_as_str(&key));
        json_write_text(out, row_text(&rows, 1));
    }
    json_end_object(out);
    return rows_end(&rows);
}

/* Writes the ids of the voice regions, the optimal region first. */
static void write_voice_regions_json(struct arena *arena, struct str address,
                                     struct json_writer *out)
{
    struct list regions = voice_regions_list_for_client(arena, address, false);
    const struct voice_region *r = regions.items;
    struct str optimal = voice_region_find_optimal(address, false);

    json_write_name(out, "geo_ordered_rtc_regions");
    json_begin_array(out);
    json_write_text(out, optimal);
    for (size_t i = 0; i < regions.count; i++)
        if (!r[i].optimal)
            json_write_text(out, r[i].id);
    json_end_array(out);
}

/* Writes the fields of READY that are the same for all accounts, bots and users. */
static void write_constant_ready_fields_json(struct arena *arena, struct str address,
                                             struct json_writer *out)
{
    static const char *const lists[] = { "guild_join_requests", NULL };

    write_empty_list_fields_json(out, lists);
    write_voice_regions_json(arena, address, out);
}

static enum err write_ready_fields_of_bot_json(const struct payload_recipient *v,
                                               struct json_writer *out)
{
    static const char *const lists[] = { "private_channels", "relationships", "presences", NULL };

    json_write_name(out, "user");
    schema_encode_object(out, &current_user_schema, v->user);
    write_empty_list_fields_json(out, lists);
    write_raw_json_field(out, "user_settings", "{}");
    return OK;
}

static enum err write_user_settings_json(struct tx *tx, snowflake user_id, struct json_writer *out)
{
    struct user_settings settings;
    enum err e = user_settings_find(tx, user_id, &settings);

    if (e)
        return e;
    json_write_name(out, "user_settings");
    schema_encode_object(out, &user_settings_schema, &settings);
    return OK;
}

/* Writes the fields that depend on nothing but rows of the account which change rarely. */
static enum err write_settings_of_account_json(struct tx *tx, snowflake user_id,
                                               uint64_t capabilities, struct json_writer *out)
{
    struct user user;
    enum err e = user_find(tx, user_id, &user);

    if (e)
        return e;
    json_write_name(out, "user");
    schema_encode_object(out, &user_in_ready_schema,
                         &(struct user_in_ready){ .user = user, .pronouns = user.pronouns });
    if (!(capabilities & CAPABILITY_NO_NOTES))
        e = write_notes_json(tx, user_id, out);
    if (!e && !(capabilities & CAPABILITY_NO_SETTINGS))
        e = write_user_settings_json(tx, user_id, out);
    if (!e)
        e = write_ready_user_guild_settings(tx, user_id, capabilities & CAPABILITY_GUILD_SETTINGS,
                                            out);
    if (!e)
        e = write_ready_settings_proto(tx, user_id, out);
    return e ? e : write_auth_json(tx, user_id, out);
}

/* Writes these fields into the cache entry, and copies them to `out`. */
static enum err write_and_cache_settings_json(struct tx *tx, const struct result_cache_key *key,
                                              struct result_cache_entry *entry,
                                              struct json_writer *out)
{
    struct arena *arena = result_cache_get_entry_arena(entry);
    struct str *text = arena_alloc(arena, sizeof *text);
    struct buf members;
    struct json_writer j = json_writer_to_buf(&members);

    buf_init(&members, SETTINGS_MAX_BYTES);
    enum err e = write_settings_of_account_json(tx, key->ids[0], key->ids[1], &j);
    if (!e && buf_is_full(&members))
        e = ERR_ENTITY_TOO_LARGE;
    if (!e)
        json_write_raw_members(out, *text = buf_move_to_arena(&members, arena));
    buf_clear(&members);
    result_cache_end_entry_tracking_queries(entry, e ? NULL : text, false);
    return e;
}

/* A client that connects again gets the same settings, so they are cached as JSON. */
static enum err write_cached_settings_json(struct tx *tx, const struct payload_recipient *v,
                                           struct json_writer *out)
{
    static const char what[] = "settings in READY";
    uint64_t capabilities = v->capabilities & (CAPABILITY_NO_NOTES | CAPABILITY_NO_SETTINGS |
                                               CAPABILITY_GUILD_SETTINGS);
    struct result_cache_key key = { what, { v->user_id, capabilities } };
    const struct str *found = result_cache_find(tx, &key);

    if (found) {
        json_write_raw_members(out, *found);
        return OK;
    }
    struct result_cache_entry *entry = result_cache_begin_entry_tracking_queries(tx, &key);
    return entry ? write_and_cache_settings_json(tx, &key, entry, out)
                 : write_settings_of_account_json(tx, v->user_id, capabilities, out);
}

static enum err write_ready_fields_of_user_json(struct tx *tx, const struct payload_recipient *v,
                                                struct json_writer *out)
{
    static const char *const lists[] = { "linked_users", "experiments", "guild_experiments", NULL };
    enum err e = write_cached_settings_json(tx, v, out);

    if (!e)
        e = write_private_channels_json(tx, v, out);
    if (!e)
        e = write_ready_relationships(tx, v->user_id, v->ready_writer, out);
    if (!e)
        e = write_connected_accounts_json(tx, v->user_id, out);
    if (!e)
        e = write_ready_read_states(tx, v->user_id, v->capabilities & CAPABILITY_READ_STATE,
                                    v->capabilities & CAPABILITY_OTHER_STATES, out);
    if (e)
        return e;
    write_empty_list_fields_json(out, lists);
    if (!ready_event_writer_has_user_list(v->ready_writer))
        write_raw_json_field(out, "users", "[]");
    write_raw_json_field(out, "consents", "{\"personalization\":{\"consented\":false}}");
    write_raw_json_field(out, "analytics_token", "\"\"");
    write_raw_json_field(out, "country_code", "\"ZZ\"");
    write_raw_json_field(out, "tutorial", "null");
    write_raw_json_field(out, "api_code_version", "1");
    write_raw_json_field(out, "explicit_content_scan_version", "0");
    write_raw_json_field(out, "ad_personalization_toggles_disabled", "true");
    write_raw_json_field(out, "broadcaster_user_ids", "[]");
    write_raw_json_field(out, "regional_feature_config",
                         "{\"age_gated_features\":0,\"teen_by_default_settings\":0}");
    return OK;
}

enum err write_ready_account_json(struct tx *tx, const struct payload_recipient *v,
                                  struct json_writer *out)
{
    write_constant_ready_fields_json(tx_arena(tx), str_of(v->address), out);
    return v->bot ? write_ready_fields_of_bot_json(v, out)
                  : write_ready_fields_of_user_json(tx, v, out);
}
