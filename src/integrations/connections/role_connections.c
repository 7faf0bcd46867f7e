/* role_connections.c - metadata that applications declare for role connections, and the values of
 * each user. */
#include "integrations/internal.h"

#include "api/deletion.h"
#include "base/timestamp.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"

/* --- metadata of an application ------------------------------------------------------- */

static const char READ_METADATA[] =
    "select role_connections_metadata from applications where id = $1";
static const char SAVE_METADATA[] =
    "update applications set role_connections_metadata = $2 where id = $1";

static enum err read_role_metadata(struct call *call, struct list *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(call->tx, READ_METADATA, BIND(v_id(call->target.application->id)), &row, &found);

    if (!e)
        *ret = json_column_decode_list(call->arena, &type_role_connections_metadata,
                                       row_text(&row, 0));
    return e;
}

static enum err get_role_connections_metadata(struct call *call)
{
    struct list list;
    enum err e = read_role_metadata(call, &list);

    return e ? e : call_reply_with_object(call, &list);
}

static enum err refuse_duplicate_metadata_keys(struct call *call, const struct list *in)
{
    const struct role_connection_metadata *all = in->items;

    for (size_t i = 0; i < in->count; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(all[i].key, all[k].key)) {
                struct json_path item = json_path_index(NULL, i),
                                 at = json_path_key(&item, STR("key"));

                form_add_error(&call->form, &at, "APPLICATION_ROLE_CONNECTION_DUPLICATE_KEY",
                               "The key is used twice.");
                return ERR_INVALID_FORM_BODY;
            }
    return OK;
}

static enum err put_role_connections_metadata(struct call *call)
{
    const struct list *in = call->body;
    enum err e = refuse_duplicate_metadata_keys(call, in);

    if (!e)
        e = tx_exec(
            call->tx, SAVE_METADATA,
            BIND(v_id(call->target.application->id),
                 v_text(json_column_encode(call->arena, &type_role_connections_metadata, in))),
            NULL);
    return e ? e : call_reply_with_object(call, in);
}

/* --- values for a user ---------------------------------------------------------------- */

struct role_connection {
    struct opt_str platform_name, platform_username;
    struct list metadata; /* struct string_pair */
};

static const struct type type_platform_name = { .kind = KIND_STRING, .max = 50 };
static const struct type type_platform_username = { .kind = KIND_STRING, .max = 100 };
static const struct type type_value = { .kind = KIND_STRING, .max = 100 };
static const struct type type_values = { .kind = KIND_MAP, .max = 5, .of = &type_value };
static const struct field connection_fields[] = {
    { FIELD(struct role_connection, platform_name), .type = &type_platform_name,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct role_connection, platform_username), .type = &type_platform_username,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct role_connection, metadata), .type = &type_values, .flags = OPTIONAL },
    { 0 },
};
static const struct schema connection_schema = {
    .name = "RoleConnection",
    .size = sizeof(struct role_connection),
    .fields = connection_fields,
    .doc = "Role connection values of a user, set by an app.",
};
static const struct type type_role_connection = { .kind = KIND_OBJECT,
                                                  .schema = &connection_schema };

static const char READ[] = "select platform_name, platform_username, metadata "
                           "from role_connections where user_id = $1 and application_id = $2";
static const char SAVE[] =
    "insert into role_connections (user_id, application_id, platform_name, platform_username, "
    "metadata) values ($1, $2, $3, $4, $5) on conflict (user_id, application_id) do update set "
    "platform_name = excluded.platform_name, platform_username = excluded.platform_username, "
    "metadata = excluded.metadata";

static enum err get_role_connection(struct call *call)
{
    struct role_connection c = { .platform_name = { .given = GIVEN_NULL },
                                 .platform_username = { .given = GIVEN_NULL } };
    struct rows row;
    bool found;

    enum err e =
        tx_one(call->tx, READ, BIND(v_id(call->caller->id), v_id(call->target.application->id)),
               &row, &found);
    if (!e && found)
        c = (struct role_connection){ row_optional_text(&row, 0), row_optional_text(&row, 1),
                                      json_column_decode_list(call->arena, &type_values,
                                                              row_text(&row, 2)) };
    return e ? e : call_reply_with_object(call, &c);
}

static bool metadata_value_is_valid_for_type(const struct role_connection_metadata *m,
                                             struct str value)
{
    int64_t number;

    if (m->type <= 4)
        return str_to_i64(value, &number);
    if (m->type <= 6)
        return timestamp_parse(value, &number) || date_parse(value, &number);
    return str_is(value, "0") || str_is(value, "1");
}

/* Checks the values: an app may set only keys that its metadata declares. */
static enum err check_metadata_values(struct call *call, const struct list *values)
{
    const struct string_pair *all = values->items;
    struct json_path metadata = json_path_key(NULL, STR("metadata"));
    struct list known;
    enum err e = read_role_metadata(call, &known);

    for (size_t i = 0; i < values->count && !e; i++) {
        const struct role_connection_metadata *m = known.items;
        struct json_path at = json_path_key(&metadata, all[i].key);
        size_t k = 0;

        while (k < known.count && !str_eq(m[k].key, all[i].key))
            k++;
        if (k < known.count && metadata_value_is_valid_for_type(&m[k], all[i].value))
            continue;
        form_add_error(&call->form, &at, "APPLICATION_ROLE_CONNECTION_INVALID_METADATA_VALUE", "%s",
                       k < known.count ? "The value does not fit the type."
                                       : "There is no such key.");
        e = ERR_INVALID_FORM_BODY;
    }
    return e;
}

static enum err put_role_connection(struct call *call)
{
    const struct role_connection *in = call->body;
    enum err e = check_metadata_values(call, &in->metadata);

    if (!e)
        e = tx_exec(call->tx, SAVE,
                    BIND(v_id(call->caller->id), v_id(call->target.application->id),
                         sql_value_of_optional_text(in->platform_name),
                         sql_value_of_optional_text(in->platform_username),
                         v_text(json_column_encode(call->arena, &type_values, &in->metadata))),
                    NULL);
    return e ? e : get_role_connection(call);
}

static const char DELETE_ROLE_CONNECTION[] =
    "delete from role_connections where user_id = $1 and application_id = $2";

static enum err delete_role_connection(struct call *call)
{
    return tx_exec(call->tx, DELETE_ROLE_CONNECTION,
                   BIND(v_id(call->caller->id), v_id(call->target.application->id)), NULL);
}

/* Checks who may delete the values of a user. The user may delete those of any app, and a bearer
 * token only those of its own app. */
static enum err check_can_delete_role_connection(struct call *call)
{
    return call->caller->kind == CALLER_USER ? OK : require_token_of_application(call);
}

/* --- routes --------------------------------------------------------------------------- */

#define METADATA "/applications/{application.id}/role-connections/metadata"
#define OF_USER  "/users/@me/applications/{application.id}/role-connection"

static const struct route routes[] = {
    {
        .method = GET,
        .path = METADATA,
        .name = "get_role_connections_metadata",
        .doc = "The role connection metadata of an app.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_role_connections_metadata,
        .admit = require_application_reader,
        .handle = get_role_connections_metadata,
    },
    {
        .method = PUT,
        .path = METADATA,
        .name = "put_role_connections_metadata",
        .doc = "Replace the role connection metadata of an app.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &type_role_connections_metadata,
        .reply = &type_role_connections_metadata,
        .status = 200,
        .admit = require_application_developer,
        .handle = put_role_connections_metadata,
    },
    {
        .method = GET,
        .path = OF_USER,
        .name = "get_role_connection",
        .doc = "The role connection values of the account.",
        .auth = AUTH_BEARER,
        .scope = "role_connections.write",
        .reply = &type_role_connection,
        .admit = require_token_of_application,
        .handle = get_role_connection,
    },
    {
        .method = DELETE,
        .path = OF_USER,
        .name = "delete_role_connection",
        .doc = "Delete the role connection values of the account, if any.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "role_connections.write",
        .admit = check_can_delete_role_connection,
        .handle = delete_role_connection,
    },
    {
        .method = PUT,
        .path = OF_USER,
        .name = "put_role_connection",
        .doc = "Set the role connection values of the account.",
        .auth = AUTH_BEARER,
        .scope = "role_connections.write",
        .body = &type_role_connection,
        .reply = &type_role_connection,
        .status = 200,
        .admit = require_token_of_application,
        .handle = put_role_connection,
    },
    { 0 },
};

const struct domain role_connections_domain = {
    .name = "Role connections",
    .doc = "Role connection metadata of apps, and their values for users.",
    .routes = routes,
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_FEW(WITH_ACCOUNT, "role_connections", "user_id") },
            { DELETE_OF(WITH_APPLICATION, "role_connections", "application_id", "user_id") },
            { 0 } },
};
