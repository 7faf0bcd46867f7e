/* settings.c - reads and changes user settings.
 *
 * The settings of a user are stored as one JSON object (user_settings_schema). A setting that is
 * absent in the stored object has its default. */
#include "platform/accounts/internal.h"

#include "api/hooks.h"
#include "model/fields/ids.h"
#include "model/member.h"
#include "model/relationship.h"

/* --- settings as optional members of a struct ---------------------------------------- */

static size_t optional_field_size(enum struct_member_kind kind)
{
    switch (kind) {
    case MEMBER_OPT_STR:
        return sizeof(struct opt_str);
    case MEMBER_OPT_INT:
        return sizeof(struct opt_int);
    case MEMBER_OPT_BOOL:
        return sizeof(struct opt_bool);
    case MEMBER_OPT_LIST:
        return sizeof(struct opt_list);
    default:
        return sizeof(struct opt_object);
    }
}

/* Each optional member starts with an enum field_presence, so a pointer to the member is also a
 * pointer to its presence. */
static enum field_presence *get_setting_presence(struct user_settings *s, const struct field *f)
{
    return (enum field_presence *)((char *)s + f->offset);
}

static void copy_setting_value(struct user_settings *to, const struct user_settings *from,
                               const struct field *f)
{
    memcpy((char *)to + f->offset, (const char *)from + f->offset, optional_field_size(f->member));
}

static bool setting_values_are_equal(const struct user_settings *a, const struct user_settings *b,
                                     const struct field *f)
{
    const struct field one[] = { *f, { 0 } };
    const struct schema schema = { .name = "", .size = sizeof *a, .fields = one };
    struct buf texts[2];

    for (int i = 0; i < 2; i++) {
        struct json_writer j = json_writer_to_buf(&texts[i]);

        buf_init(&texts[i], CALL_MAX_REPLY);
        schema_encode_object(&j, &schema, i ? b : a);
    }
    bool equal = str_eq(buf_as_str(&texts[0]), buf_as_str(&texts[1]));
    buf_clear(&texts[0]);
    buf_clear(&texts[1]);
    return equal;
}

static void apply_default_settings(struct user_settings *s)
{
    for (const struct field *f = user_settings_schema.fields; f->name.p; f++)
        if (*get_setting_presence(s, f) == ABSENT)
            copy_setting_value(s, &user_settings_defaults, f);
}

/* Completes the friend sources: if `all` is true, mutual_friends and mutual_guilds become true;
 * absent sources become false. */
static void fill_implied_friend_sources(struct arena *arena, struct user_settings *s)
{
    const struct friend_request_sources *in = s->friend_source_flags.value;

    if (s->friend_source_flags.given != GIVEN)
        return;
    struct friend_request_sources *out = arena_alloc(arena, sizeof *out);
    out->all = opt_bool_present(in->all.value);
    out->mutual_friends = opt_bool_present(in->all.value || in->mutual_friends.value);
    out->mutual_guilds = opt_bool_present(in->all.value || in->mutual_guilds.value);
    s->friend_source_flags.value = out;
}

static const char FIND_SETTINGS[] =
    "select u.locale, s.document from users u left join user_settings s on s.user_id = u.id "
    "where u.id = $1";

static enum err decode_settings_document(struct arena *arena, struct str document,
                                         struct user_settings *ret)
{
    struct form form = { .arena = arena };
    void *decoded;

    *ret = (struct user_settings){ 0 };
    if (!document.p)
        return OK;
    if (schema_decode(&type_user_settings, document, &form, &decoded))
        return ERR_INTERNAL;
    *ret = *(struct user_settings *)decoded;
    return OK;
}

/* Reads the stored settings without defaults, plus the locale, which is a column of users. */
static enum err read_stored_settings(struct tx *tx, snowflake user_id, struct user_settings *ret)
{
    struct rows row;

    enum err e = tx_one_or(tx, FIND_SETTINGS, BIND(v_id(user_id)), ERR_UNKNOWN_USER, &row);
    if (e)
        return e;
    e = decode_settings_document(
        tx_arena(tx), row_column_is_null(&row, 1) ? (struct str){ 0 } : row_text(&row, 1), ret);
    ret->locale = opt_str_or_null(row_text(&row, 0));
    return e;
}

static const char SAVE_LOCALE[] = "update users set locale = $2 where id = $1";
static const char SAVE_SETTINGS[] = "insert into user_settings (user_id, document) values ($1, $2) "
                                    "on conflict (user_id) do update set document = $2";

static enum err write_stored_settings(struct tx *tx, snowflake user_id, struct user_settings s)
{
    struct buf text;
    struct json_writer j = json_writer_to_buf(&text);

    enum err e = tx_exec(tx, SAVE_LOCALE, BIND(v_id(user_id), v_text(s.locale.value)), NULL);
    if (e)
        return e;
    s.locale = (struct opt_str){ 0 };
    buf_init(&text, CALL_MAX_REPLY);
    schema_encode_object(&j, &user_settings_schema, &s);
    return tx_exec(tx, SAVE_SETTINGS,
                   BIND(v_id(user_id), v_text(buf_move_to_arena(&text, tx_arena(tx)))), NULL);
}

enum err user_settings_find(struct tx *tx, snowflake user_id, struct user_settings *ret)
{
    enum err e = read_stored_settings(tx, user_id, ret);

    if (!e)
        apply_default_settings(ret);
    return e;
}

enum err user_settings_from_json(struct arena *arena, struct str document,
                                 struct user_settings *ret)
{
    enum err e = decode_settings_document(arena, document, ret);

    if (!e)
        apply_default_settings(ret);
    return e;
}

int64_t user_settings_friend_sources(const struct user_settings *s)
{
    const struct friend_request_sources *f = s->friend_source_flags.value;

    if (f->all.value)
        return FRIEND_FROM_ANYBODY | FRIEND_FROM_MUTUAL_FRIENDS | FRIEND_FROM_MUTUAL_GUILDS;
    return (f->mutual_friends.value ? FRIEND_FROM_MUTUAL_FRIENDS : 0) |
           (f->mutual_guilds.value ? FRIEND_FROM_MUTUAL_GUILDS : 0);
}

enum err get_user_settings(struct call *call)
{
    struct user_settings settings;
    enum err e = user_settings_find(call->tx, call->caller->id, &settings);

    return e ? e : call_reply_with_object(call, &settings);
}

/* Copies the members that the body contains; null resets a member to its default. */
static void apply_settings_patch(const struct user_settings *in, struct user_settings *settings)
{
    struct user_settings patch = *in;

    for (const struct field *f = user_settings_schema.fields; f->name.p; f++) {
        if (*get_setting_presence(&patch, f) == GIVEN)
            copy_setting_value(settings, &patch, f);
        else if (*get_setting_presence(&patch, f) == GIVEN_NULL)
            *get_setting_presence(settings, f) = ABSENT;
    }
    if (settings->locale.given != GIVEN)
        settings->locale = opt_str_or_null(STR("en-US"));
}

/* Value of slayer_sdk_receive_dms_in_game: a game shows messages from nobody. */
enum { GAME_DMS_FROM_NOBODY = 3 };

int64_t user_settings_game_dm_access(const struct user_settings *s)
{
    if (s->allow_game_friend_dms.value)
        return DM_ANYWHERE;
    return s->slayer_sdk_receive_dms_in_game.value == GAME_DMS_FROM_NOBODY ? DM_NOWHERE
                                                                           : DM_IN_GAME_ONLY;
}

enum err game_friend_dm_access_find(struct tx *tx, snowflake user_id, int64_t *ret)
{
    struct user_settings settings;
    enum err e = user_settings_find(tx, user_id, &settings);

    if (!e)
        *ret = user_settings_game_dm_access(&settings);
    return e;
}

/* Maximum size in bytes of the JSON of all guild folders. 200 guilds in named folders need about
 * a third of it. */
enum { MAX_FOLDERS_BYTES = 32 * 1024 };

/* Limits the size of the guild folders, which are stored as sent and are part of every READY.
 * Larger folders that an earlier program version stored remain valid. */
static enum err check_guild_folders_size(struct call *call, const struct user_settings *in)
{
    const struct str *folders = in->guild_folders.value.items;
    size_t bytes = 0;

    for (size_t i = 0; in->guild_folders.given == GIVEN && i < in->guild_folders.value.count; i++)
        bytes += folders[i].n;
    if (bytes <= MAX_FOLDERS_BYTES)
        return OK;
    struct json_path at = json_path_key(NULL, STR("guild_folders"));
    form_add_error(&call->form, &at, FORM_MAX_LENGTH, (long long)MAX_FOLDERS_BYTES);
    return ERR_INVALID_FORM_BODY;
}

enum err modify_user_settings(struct call *call)
{
    struct user_settings before, stored, after, changed = { 0 };
    snowflake id = call->caller->id;
    bool any = false;

    enum err e = check_guild_folders_size(call, call->body);
    if (!e)
        e = read_stored_settings(call->tx, id, &stored);
    if (e)
        return e;
    before = stored;
    apply_settings_patch(call->body, &stored);
    fill_implied_friend_sources(call->arena, &stored);
    after = stored;
    apply_default_settings(&before);
    apply_default_settings(&after);
    for (const struct field *f = user_settings_schema.fields; f->name.p; f++) {
        if (setting_values_are_equal(&before, &after, f))
            continue;
        copy_setting_value(&changed, &after, f);
        any = true;
    }
    if (any)
        e = write_stored_settings(call->tx, id, stored);
    if (!e)
        e = hook_settings_changed(call, &(struct user_settings_change){ id, &before, &after });
    if (e)
        return e;
    if (any)
        call_emit_event(call, EVENT_USER_SETTINGS_UPDATE, audience_of_user(id),
                        &user_settings_schema, &changed);
    return call_reply_with_object(call, &after);
}

/* --- restricting direct messages of a joined guild ----------------------------------- */

enum { MOST_RESTRICTED = 200 };

enum err user_settings_restrict_dms_of_guild(struct call *call, const struct member *m)
{
    struct user_settings stored, changed = { 0 };
    struct list *closed = &stored.restricted_guilds.value;

    if (!m->user || m->user->bot.value)
        return OK; /* m->user is NULL only for the creator of the guild, for whom nothing changes */
    enum err e = read_stored_settings(call->tx, m->user_id, &stored);
    if (e || !stored.default_guilds_restricted.value || closed->count >= MOST_RESTRICTED ||
        id_list_contains(closed, m->guild_id))
        return e;
    id_list_add(call->arena, closed, m->guild_id);
    stored.restricted_guilds.given = GIVEN;
    changed.restricted_guilds = stored.restricted_guilds;
    e = write_stored_settings(call->tx, m->user_id, stored);
    if (!e)
        call_emit_event(call, EVENT_USER_SETTINGS_UPDATE, audience_of_user(m->user_id),
                        &user_settings_schema, &changed);
    return e;
}
