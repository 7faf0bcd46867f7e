/* routes.c - routes that request and download an export. */
#include <fcntl.h>
#include <sys/stat.h>

#include "api/deletion.h"
#include "base/clock.h"
#include "platform/exports/internal.h"

static const char FIND_EXPORT[] =
    "select id, ready, bytes, expires_at from exports where user_id = $1";

enum err data_export_find(struct call *call, snowflake user_id, struct data_export *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_EXPORT, BIND(v_id(user_id)), &row, &found);

    *ret = (struct data_export){ .user_id = user_id };
    if (e || !found)
        return e;
    ret->id = row_id(&row, 0);
    ret->ready = row_bool(&row, 1);
    ret->bytes = row_int(&row, 2);
    ret->expires_at = row_int(&row, 3);
    return OK;
}

static const char FILE_BYTES[] = "select bytes from file_owners where owner_id = $1";

static enum err read_stored_file_bytes_of_user(struct call *call, snowflake user_id, int64_t *ret)
{
    return tx_read_int(call->tx, FILE_BYTES, BIND(v_id(user_id)), ret);
}

static const char ADD_EXPORT[] =
    "insert into exports (user_id, id, expires_at, counted) values ($1, $2, 0, $3)";
static const char COUNT_COPIES[] = "update file_owners set bytes = bytes + $2 where owner_id = $1";

/* Files in an export count towards the account's storage quota until the export is deleted. */
enum err data_export_find_or_create(struct call *call, snowflake user_id, struct data_export *ret)
{
    int64_t bytes;
    enum err e = data_export_find(call, user_id, ret);

    if (e || ret->id)
        return e;
    ret->id = snowflake_new();
    e = read_stored_file_bytes_of_user(call, user_id, &bytes);
    if (!e)
        e = tx_exec(call->tx, ADD_EXPORT, BIND(v_id(user_id), v_id(ret->id), v_int(bytes)), NULL);
    if (!e)
        e = tx_exec(call->tx, COUNT_COPIES, BIND(v_id(user_id), v_int(bytes)), NULL);
    return e ? e : job_schedule(call, &export_job, user_id, clock_us(), STR("0 0 0 0 0"));
}

const char *data_export_folder(const struct call *call)
{
    return str_dup_cstring(call->arena,
                           str_printf(call->arena, "%s/exports", api_get_options(call->api)->data));
}

const char *data_export_path(const struct call *call, snowflake id)
{
    return str_dup_cstring(
        call->arena,
        str_printf(call->arena, "%s/%llu.tar", data_export_folder(call), (unsigned long long)id));
}

struct export_reply {
    snowflake harvest_id, user_id;
    int64_t status;
    int64_t created_at;
    struct opt_int bytes, expires_at;
};

enum { EXPORT_RUNNING = 1, EXPORT_READY = 2 };

static const struct field export_fields[] = {
    { FIELD(struct export_reply, harvest_id), .type = &type_id },
    { FIELD(struct export_reply, user_id), .type = &type_id },
    { FIELD(struct export_reply, status), .type = &type_count, .doc = "1 running, 2 ready" },
    { FIELD(struct export_reply, created_at), .type = &type_time },
    { FIELD(struct export_reply, bytes), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct export_reply, expires_at), .type = &type_time, .flags = OPTIONAL },
    { 0 },
};
static const struct schema export_schema = {
    .name = "Harvest",
    .size = sizeof(struct export_reply),
    .fields = export_fields,
    .doc = "An export of a user's data.",
};
static const struct type export_reply_type = { .kind = KIND_OBJECT, .schema = &export_schema };

static enum err reply_with_export(struct call *call, const struct data_export *row)
{
    struct export_reply out = {
        .harvest_id = row->id,
        .user_id = row->user_id,
        .status = row->ready ? EXPORT_READY : EXPORT_RUNNING,
        .created_at = snowflake_to_ms(row->id) * 1000,
    };

    if (row->ready) {
        out.bytes = (struct opt_int){ GIVEN, row->bytes };
        out.expires_at = (struct opt_int){ GIVEN, row->expires_at };
    }
    return call_reply_with_object(call, &out);
}

static enum err get_export(struct call *call)
{
    struct data_export row;
    enum err e = data_export_find(call, call->caller->id, &row);

    if (e || !row.id)
        return e ? e : ERR_NOT_FOUND;
    return reply_with_export(call, &row);
}

/* Checks the storage quota and creates an export. The quota does not apply to exports that an
 * operator starts. */
static enum err create_export(struct call *call)
{
    int64_t quota = api_get_options(call->api)->quota, bytes;
    struct data_export row;
    enum err e = data_export_find(call, call->caller->id, &row);

    if (e || row.id)
        return e ? e : reply_with_export(call, &row);
    e = read_stored_file_bytes_of_user(call, call->caller->id, &bytes);
    if (!e && quota && 2 * bytes > quota)
        return ERR_EXPORT_QUOTA;
    if (!e)
        e = data_export_find_or_create(call, call->caller->id, &row);

    return e ? e : reply_with_export(call, &row);
}

/* Sends the caller's own export. An id of another user's export in the path is not found. */
static enum err download_export(struct call *call)
{
    struct data_export row;
    struct stat st;
    enum err e = data_export_find(call, call->caller->id, &row);

    if (e)
        return e;
    if (!row.ready || row.id != call_get_path_id(call, "harvest.id") ||
        row.expires_at <= clock_us())
        return ERR_NOT_FOUND;
    int fd = open(data_export_path(call, row.id), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return ERR_NOT_FOUND;
    call_add_header(call, "Content-Disposition", STR("attachment; filename=\"harvest.tar\""));
    call_add_header(call, "Cache-Control", STR("private, no-store"));
    return call_reply_with_file_range(call, STR("application/x-tar"), fd, (int64_t)st.st_size);
}

static const struct path_resolver resolvers[] = {
    {
        .name = "harvest.id",
        .field = "harvest_id",
        .doc = "An export of a user's data.",
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/harvest",
        .name = "get_harvest",
        .doc = "The state of the caller's data export. 404 if none was requested, or if it has "
               "expired.",
        .auth = AUTH_USER,
        .reply = &export_reply_type,
        .handle = get_export,
    },
    {
        .method = POST,
        .path = "/users/@me/harvest",
        .name = "create_harvest",
        .doc = "Request an export of all data of the caller, unless there is one. It is stored "
               "for a week, and the file copies in it count towards the upload quota. 413 if "
               "they exceed it.",
        .auth = AUTH_USER,
        .reply = &export_reply_type,
        .handle = create_export,
    },
    {
        .method = GET,
        .path = "/users/@me/harvest/{harvest.id}",
        .name = "download_harvest",
        .doc = "Download the finished export: a tar of JSON lines and files.",
        .auth = AUTH_USER,
        .status = 200,
        .handle = download_export,
    },
    { 0 },
};

const struct domain exports_domain = {
    .name = "Privacy",
    .doc = "Export of a user's data for that user.",
    .routes = routes,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &export_job, &export_expiry_job, NULL },
    .daily = data_exports_delete_stale_files,
    .deletions = (const struct deletion_rule[]){ { WITH_ACCOUNT, "exports",
                                                   .run = data_exports_cancel_of_account,
                                                   .phase = DELETE_PARTS },
                                                 { 0 } },
};
