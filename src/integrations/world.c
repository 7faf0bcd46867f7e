/* world.c - local platforms in world files (JSON data sets): accounts, owners, subscribers, guild
 * integrations. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "integrations/internal.h"
#include "platform/worlds/import_export.h"

enum { USUAL_GRACE_DAYS = 7 };

/* --- schemas -------------------------------------------------------------------------- */

struct world_account {
    struct str platform, id, name;
    struct opt_bool programme, partner;
    struct opt_str owner;
    struct opt_list subscribers, friends; /* struct str */
};
struct world_followed {
    struct opt_id id;
    struct str platform, account, by;
    struct opt_str role;
    struct opt_int expire_behavior, expire_grace_period;
    struct opt_bool enable_emoticons;
};

static const struct enum_choice platform_words[] = {
    { 0, "platform_a", "PLATFORM_A", "" },
    { 0, "platform_b", "PLATFORM_B", "" },
    { 0 },
};
static const struct type type_platform_word = { .kind = KIND_STRING, .choices = platform_words };
static const struct type type_account_id = { .kind = KIND_STRING, .min = 1, .max = 128 };
static const struct type type_account_ids = { .kind = KIND_ARRAY,
                                              .max = WORLD_MANY,
                                              .of = &type_account_id };
static const struct type type_behavior = { .kind = KIND_INT, .min = 0, .max = 1 };
static const struct type type_grace = { .kind = KIND_INT, .min = 1, .max = 30 };
static const struct field account_fields[] = {
    MUST(struct world_account, platform, type_platform_word),
    MUST(struct world_account, id, type_account_id),
    MUST(struct world_account, name, type_world_name),
    MAYBE(struct world_account, programme, type_bool),
    MAYBE(struct world_account, partner, type_bool),
    MAYBE(struct world_account, owner, type_world_ref),
    MAYBE(struct world_account, subscribers, type_account_ids),
    MAYBE(struct world_account, friends, type_account_ids),
    { 0 },
};
static const struct field followed_fields[] = {
    MAYBE(struct world_followed, id, type_id),
    MUST(struct world_followed, platform, type_platform_word),
    MUST(struct world_followed, account, type_account_id),
    MUST(struct world_followed, by, type_world_ref),
    MAYBE(struct world_followed, role, type_world_ref),
    MAYBE(struct world_followed, expire_behavior, type_behavior),
    MAYBE(struct world_followed, expire_grace_period, type_grace),
    MAYBE(struct world_followed, enable_emoticons, type_bool),
    { 0 },
};

WORLD_OBJECT(account, account_fields, NULL);
WORLD_OBJECT(followed, followed_fields, NULL);

/* --- import of accounts --------------------------------------------------------------- */

static const char ADD_SUBSCRIBER[] =
    "insert into platform_subscription (type, account_id, subscriber_id, since) "
    "values ($1, $2, $3, $4) on conflict do nothing";
static const char DELETE_OTHER_OWNERS[] =
    "delete from connections where type = $1 and id = $2 and user_id <> $3";
static const char SAVE_CONNECTION[] =
    "insert into connections (user_id, type, id, name, is_partner, created_at) "
    "select cast($3 as bigint), a.type, a.id, a.name, a.is_partner, cast($4 as bigint) "
    "from platform_account a where a.type = $1 and a.id = $2 "
    "on conflict (user_id, type, id) do update set name = excluded.name, "
    "is_partner = excluded.is_partner";

static enum err set_user_of_platform_account(struct world_file_importer *im,
                                             const struct world_account *a, snowflake owner)
{
    struct value type = v_text(a->platform), id = v_text(a->id);
    enum err e = tx_exec(im->tx, DELETE_OTHER_OWNERS, BIND(type, id, v_id(owner)), NULL);

    if (e)
        return e;
    return tx_exec(im->tx, SAVE_CONNECTION, BIND(type, id, v_id(owner), v_int(clock_us())), NULL);
}

static enum err import_platform_account(struct world_file_importer *im, const void *entry,
                                        const struct json_path *at, snowflake unused)
{
    const struct world_account *a = entry;
    const struct str *subscribers = a->subscribers.value.items, *friends = a->friends.value.items;
    struct value type = v_text(a->platform), id = v_text(a->id);
    snowflake owner = 0;

    enum err e = world_file_resolve_optional_reference(im, &user_naming, unused, &a->owner, at,
                                                       "owner", &owner);
    if (!e)
        e = upsert_local_platform_account(
            im->tx, &(struct local_platform_account){ platform_find_by_name(a->platform), a->id,
                                                      a->name, a->programme, a->partner });
    for (size_t i = 0; i < a->subscribers.value.count && !e; i++)
        e = tx_exec(im->tx, ADD_SUBSCRIBER,
                    BIND(type, id, v_text(subscribers[i]), v_int(clock_us())), NULL);
    for (size_t i = 0; i < a->friends.value.count && !e; i++)
        e = insert_local_friend_list_entry(im->tx, platform_find_by_name(a->platform), a->id,
                                           friends[i]);
    return e || !owner ? e : set_user_of_platform_account(im, a, owner);
}

/* --- import of integrations ----------------------------------------------------------- */

static const char FIND_ACCOUNT[] = "select name from platform_account where type = $1 and id = $2";
static const char MARK_ROLE[] = "update roles set integration_id = $2, managed = 1 where id = $1";
static enum err insert_followed_account(struct world_file_importer *im,
                                        const struct world_followed *f,
                                        struct integration_row *made, const struct json_path *at)
{
    struct json_path account_at = json_path_key(at, STR("account"));
    struct rows row;
    bool found;
    enum err e =
        tx_one(im->tx, FIND_ACCOUNT, BIND(v_text(f->platform), v_text(f->account)), &row, &found);

    if (e)
        return e;
    if (!found) {
        form_add_error(im->form, &account_at, "WORLD_UNKNOWN", "there is no account '%.*s'",
                       STR_ARGS(form_shorten_quoted_value(f->account)));
        return OK;
    }
    made->name = row_text(&row, 0);
    e = insert_integration(im->tx, made);
    /* Insert the jobs of the imported integrations; a running server starts them when it next reads
     * due jobs. */
    if (!e)
        e = insert_job_row(im->tx, "integration-sync", made->id, clock_us(), STR(""));
    return e ? e : insert_job_row(im->tx, "integration-expiry", made->id, clock_us(), STR(""));
}

static enum err import_integration(struct world_file_importer *im, const void *entry,
                                   const struct json_path *at, snowflake guild)
{
    const struct world_followed *f = entry;
    struct json_path by_at = json_path_key(at, STR("by"));
    unsigned before = im->form->problems;
    struct integration_row row;
    snowflake by = 0, role = 0;
    bool known;

    enum err e = world_file_resolve_reference(im, &user_naming, 0, f->by, &by_at, &by);
    if (!e)
        e = world_file_resolve_optional_reference(im, &role_naming, guild, &f->role, at, "role",
                                                  &role);
    if (!e)
        e = read_integration_of_account(im->tx, guild, f->platform, f->account, &row, &known);
    if (e || im->form->problems != before)
        return e;
    if (!known) {
        snowflake id = f->id.given == GIVEN ? f->id.value : snowflake_new();

        row = (struct integration_row){ .id = id,
                                        .guild_id = guild,
                                        .user_id = by,
                                        .type = f->platform,
                                        .account_id = f->account,
                                        .enabled = true,
                                        .expire_grace_period = USUAL_GRACE_DAYS,
                                        .created_at = snowflake_to_ms(id) * 1000 };
        e = insert_followed_account(im, f, &row, at);
    }
    if (e || im->form->problems != before)
        return e;
    if (role)
        row.role_id = role;
    WORLD_SET_IF_GIVEN(row.expire_behavior, f->expire_behavior);
    WORLD_SET_IF_GIVEN(row.expire_grace_period, f->expire_grace_period);
    WORLD_SET_IF_GIVEN(row.enable_emoticons, f->enable_emoticons);
    e = update_integration_row(im->tx, &row);
    return e || !role ? e : tx_exec(im->tx, MARK_ROLE, BIND(v_id(role), v_id(row.id)), NULL);
}

/* --- export --------------------------------------------------------------------------- */

static const char ALL_ACCOUNTS[] =
    "select a.type, a.id, a.name, a.has_programme, a.is_partner, u.username "
    "from platform_account a left join connections c on c.type = a.type and c.id = a.id "
    "left join users u on u.id = c.user_id order by a.type, a.id";
static const char SUBSCRIBERS_OF[] =
    "select subscriber_id from platform_subscription where type = $1 and account_id = $2 "
    "and until is null order by subscriber_id";
static const char FRIENDS_OF[] = "select friend_id from platform_friend where type = $1 "
                                 "and account_id = $2 order by friend_id";

static enum err export_related_account_ids(struct tx *tx, struct sql sql,
                                           const struct world_account *a, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, sql, BIND(v_text(a->platform), v_text(a->id)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct str *)export_add_list_item(tx, ret, sizeof(struct str)) = row_text(&r, 0);
    return rows_end(&r);
}

static enum err export_platform_accounts(struct world_file_exporter *ex, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(ex->tx, ALL_ACCOUNTS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_account *a = export_add_list_item(ex->tx, ret, sizeof *a);

        *a = (struct world_account){
            .platform = row_text(&r, 0),
            .id = row_text(&r, 1),
            .name = row_text(&r, 2),
            .programme = export_nondefault_bool(&r, 3, false),
            .partner = export_nondefault_bool(&r, 4, false),
            .owner = export_nondefault_text(&r, 5, NULL),
        };
    }
    e = rows_end(&r);
    struct world_account *all = ret->value.items;
    for (size_t i = 0; i < ret->value.count && !e; i++) {
        e = export_related_account_ids(ex->tx, SQL(SUBSCRIBERS_OF), &all[i], &all[i].subscribers);
        if (!e)
            e = export_related_account_ids(ex->tx, SQL(FRIENDS_OF), &all[i], &all[i].friends);
    }
    return e;
}

static const char FOLLOWED_BY[] =
    "select i.id, i.type, i.account_id, u.username, i.role_id, i.expire_behavior, "
    "i.expire_grace_period, i.enable_emoticons from integrations i "
    "join users u on u.id = i.user_id join platform_account a on a.type = i.type "
    "and a.id = i.account_id where i.guild_id = $1 order by i.id";

static bool integration_entry_from_row(struct world_file_exporter *ex, const struct rows *r,
                                       void *entry)
{
    struct world_followed *f = entry;

    *f = (struct world_followed){
        .id = { GIVEN, row_id(r, 0) },
        .platform = row_text(r, 1),
        .account = row_text(r, 2),
        .by = row_text(r, 3),
        .expire_behavior = export_nondefault_int(r, 5, 0),
        .expire_grace_period = export_nondefault_int(r, 6, USUAL_GRACE_DAYS),
        .enable_emoticons = export_nondefault_bool(r, 7, false),
    };
    if (!row_column_is_null(r, 4))
        f->role = (struct opt_str){ GIVEN, format_id_string(ex->tx, row_id(r, 4)) };
    return true;
}

const struct world_file_fields integrations_world = { (const struct world_file_field[]){
    { NULL, "platform_accounts", &world_account_list, .order = 30,
      .import = import_platform_account, .export = export_platform_accounts },
    { "guild", "integrations", &world_followed_list, .order = 110, .import = import_integration,
      .select = { &FOLLOWED_BY }, .read = integration_entry_from_row },
    { 0 },
} };
