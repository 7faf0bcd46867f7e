/* connection_rows.c - reads connections: accounts of other platforms that users have linked. */
#include "integrations/connections/connection_rows.h"

#include "model/fields/rows.h"

static const struct field guild_fields[] = {
    { FIELD(struct integration_guild, id), .type = &type_id },
    { FIELD(struct integration_guild, name), .type = &type_text },
    { FIELD(struct integration_guild, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { 0 },
};
static const struct schema guild_schema_ = {
    .name = "IntegrationGuild",
    .size = sizeof(struct integration_guild),
    .fields = guild_fields,
    .doc = "The guild of an integration, as non-members see it.",
};
static const struct type type_integration_guild = { .kind = KIND_OBJECT, .schema = &guild_schema_ };

static const struct field listed_fields[] = {
    { FIELD(struct integration_of_linked_account, id), .type = &type_text,
      .doc = "A snowflake, or " PARTNERS_INTEGRATION_ID },
    { FIELD(struct integration_of_linked_account, type), .type = &type_text },
    { FIELD(struct integration_of_linked_account, account), .type = &type_integration_account },
    { FIELD(struct integration_of_linked_account, guild), .type = &type_integration_guild },
    { 0 },
};
static const struct schema listed_schema = {
    .name = "ConnectionIntegration",
    .size = sizeof(struct integration_of_linked_account),
    .fields = listed_fields,
    .doc = "An integration whose guild the connection's owner may join.",
};
static const struct type type_listed = { .kind = KIND_OBJECT, .schema = &listed_schema };
static const struct type type_listed_all = { .kind = KIND_ARRAY, .of = &type_listed };

static const struct enum_choice visibilities[] = {
    { .value = 0, .name = "NONE", .doc = "Only its owner sees it" },
    { .value = 1, .name = "EVERYONE", .doc = "Everybody sees it" },
    { 0 },
};
static const struct type type_visibility = { .kind = KIND_INT, .choices = visibilities };

static const struct field connection_fields[] = {
    { FIELD(struct linked_platform_account, id), .type = &type_text },
    { FIELD_AS(struct linked_platform_account, word, "type"), .type = &type_text },
    { FIELD(struct linked_platform_account, name), .type = &type_text },
    { FIELD(struct linked_platform_account, verified), .type = &type_bool },
    { FIELD(struct linked_platform_account, revoked), .type = &type_bool },
    { FIELD(struct linked_platform_account, visibility), .type = &type_visibility },
    { FIELD(struct linked_platform_account, metadata_visibility), .type = &type_visibility },
    { FIELD(struct linked_platform_account, friend_sync), .type = &type_bool },
    { FIELD(struct linked_platform_account, show_activity), .type = &type_bool },
    { FIELD(struct linked_platform_account, two_way_link), .type = &type_bool },
    { FIELD(struct linked_platform_account, integrations), .type = &type_listed_all,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema connection_schema = {
    .name = "Connection",
    .size = sizeof(struct linked_platform_account),
    .fields = connection_fields,
    .doc = "An account of another platform that a user has connected.",
};
const struct type type_connection = { .kind = KIND_OBJECT, .schema = &connection_schema };
const struct type type_connections = { .kind = KIND_ARRAY, .of = &type_connection };

#define COLUMNS                                                                            \
    "select user_id, type, id, name, verified, revoked, visibility, metadata_visibility, " \
    "friend_sync, show_activity, two_way_link, is_partner, secret from connections "

static const char OF_USER[] = COLUMNS "where user_id = $1 order by created_at, type, id";
static const char ONE[] = COLUMNS "where user_id = $1 and type = $2 and id = $3";
static const char OF_ACCOUNT[] = COLUMNS "where type = $1 and id = $2";

static void linked_account_from_row(const struct rows *r, void *ret)
{
    *(struct linked_platform_account *)ret = (struct linked_platform_account){
        .user_id = row_id(r, 0),
        .type = row_text(r, 1),
        .word = integration_get_displayed_type(row_text(r, 1)),
        .id = row_text(r, 2),
        .name = row_text(r, 3),
        .verified = row_bool(r, 4),
        .revoked = row_bool(r, 5),
        .visibility = row_int(r, 6),
        .metadata_visibility = row_int(r, 7),
        .friend_sync = row_bool(r, 8),
        .show_activity = row_bool(r, 9),
        .two_way_link = row_bool(r, 10),
        .is_partner = row_bool(r, 11),
        .secret = row_column_is_null(r, 12) ? (struct str){ 0 } : row_bytes(r, 12),
    };
}

enum err read_linked_accounts_of_user(struct tx *tx, snowflake user_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, OF_USER, BIND(v_id(user_id)), sizeof(struct linked_platform_account),
                        linked_account_from_row, ret);
}

enum err read_linked_account(struct tx *tx, snowflake user_id, struct str type, struct str id,
                             struct linked_platform_account *ret)
{
    return tx_read_first(tx, ONE, BIND(v_id(user_id), v_text(type), v_text(id)),
                         linked_account_from_row, ret, ERR_UNKNOWN_CONNECTION);
}

enum err read_linked_account_of_platform_account(struct tx *tx, struct str type, struct str id,
                                                 struct linked_platform_account *ret,
                                                 bool *ret_found)
{
    return tx_find_first(tx, OF_ACCOUNT, BIND(v_text(type), v_text(id)), linked_account_from_row,
                         ret, ret_found);
}

/* --- guilds that a connection allows to join ------------------------------------------ */

/* The cross join prevents the query planner from scanning all integrations of the platform. */
static const char READ_JOINABLE_INTEGRATIONS[] =
    "select i.id, i.account_id, i.name, g.id, g.name, g.icon from "
    "(select id from integrations where type = $1 and account_id = $2 union "
    "select integration_id from integration_subscribers where subscriber_id = $2) x "
    "cross join integrations i join guilds g on g.id = i.guild_id where i.id = x.id "
    "and i.type = $1 and i.enabled = 1 and i.revoked_at is null order by i.id";
static const char FIND_GUILD[] = "select id, name, icon from guilds where id = $1 and removed = 0";

static void append_integration_of_linked_account(struct arena *arena, struct list *list,
                                                 struct str id, struct str type,
                                                 struct integration_account account,
                                                 struct integration_guild guild)
{
    struct integration_of_linked_account *i = list_append(arena, list, sizeof *i);
    struct integration_account *a = arena_alloc(arena, sizeof *a);
    struct integration_guild *g = arena_alloc(arena, sizeof *g);

    *a = account;
    *g = guild;
    *i = (struct integration_of_linked_account){ id, type, a, g };
}

static enum err append_partners_guild_integration(struct tx *tx,
                                                  const struct linked_platform_account *c,
                                                  struct list *list)
{
    struct rows row;
    bool found;

    if (!c->is_partner || !str_is(c->type, "platform_a") || !get_partners_guild_id())
        return OK;
    enum err e = tx_one(tx, FIND_GUILD, BIND(v_id(get_partners_guild_id())), &row, &found);
    if (!e && found)
        append_integration_of_linked_account(
            tx_arena(tx), list, STR(PARTNERS_INTEGRATION_ID), c->word,
            (struct integration_account){ get_partners_account_id(), partners_account_name() },
            (struct integration_guild){ row_id(&row, 0), row_text(&row, 1),
                                        row_optional_text(&row, 2) });
    return e;
}

enum err read_integrations_of_linked_account(struct tx *tx, struct linked_platform_account *c)
{
    struct arena *arena = tx_arena(tx);
    struct list list = { 0 };
    struct rows rows;

    c->integrations.given = GIVEN;
    if (!c->verified || c->revoked || !platform_is_enabled(platform_find_by_name(c->type)))
        return OK;
    enum err e =
        tx_query(tx, READ_JOINABLE_INTEGRATIONS, BIND(v_text(c->type), v_text(c->id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows))
        append_integration_of_linked_account(
            arena, &list, str_printf(arena, "%llu", (unsigned long long)row_id(&rows, 0)), c->word,
            (struct integration_account){ row_text(&rows, 1), row_text(&rows, 2) },
            (struct integration_guild){ row_id(&rows, 3), row_text(&rows, 4),
                                        row_optional_text(&rows, 5) });
    e = rows_end(&rows);
    if (!e)
        e = append_partners_guild_integration(tx, c, &list);
    c->integrations.value = list;
    return e;
}

enum err write_connected_accounts_json(struct tx *tx, snowflake user_id, struct json_writer *out)
{
    struct list list;
    enum err e = read_linked_accounts_of_user(tx, user_id, &list);

    for (size_t i = 0; i < list.count && !e; i++)
        e = read_integrations_of_linked_account(tx,
                                                (struct linked_platform_account *)list.items + i);
    if (e)
        return e;
    json_write_name(out, "connected_accounts");
    schema_encode(out, &type_connections, &list);
    return OK;
}
