/* world.c - import and export of membership forms and join requests in world files (JSON data
 * sets). */
#include "base/clock.h"
#include "platform/join_requests/internal.h"
#include "platform/guilds/guilds.h"
#include "platform/worlds/import_export.h"

struct world_member_form {
    struct opt_bool enabled;
    struct opt_int version;
    struct opt_str description;
    struct list form_fields; /* struct member_form_field */
};

struct world_join_request {
    struct opt_id id;
    struct str user, status;
    struct opt_int created_at, reviewed_at;
    struct opt_str reviewed_by, rejection_reason;
    struct opt_list responses; /* struct member_form_field */
};

static const struct type type_form_text = { .kind = KIND_STRING, .max = 300 };
static const struct field member_form_fields[] = {
    MAYBE(struct world_member_form, enabled, type_bool),
    MAYBE(struct world_member_form, version, type_time),
    MAYBE(struct world_member_form, description, type_form_text),
    MUST(struct world_member_form, form_fields, type_form_fields),
    { 0 },
};

static const struct enum_choice statuses[] = {
    { 0, "SUBMITTED", "SUBMITTED", "Waits for review" },
    { 0, "REJECTED", "REJECTED", "Rejected" },
    { 0, "APPROVED", "APPROVED", "Approved" },
    { 0 },
};
static const struct type type_join_status = { .kind = KIND_STRING, .choices = statuses };
static const struct field join_request_fields[] = {
    MAYBE(struct world_join_request, id, type_id),
    MUST(struct world_join_request, user, type_world_ref),
    MUST(struct world_join_request, status, type_join_status),
    MAYBE(struct world_join_request, created_at, type_time),
    MAYBE(struct world_join_request, reviewed_at, type_time),
    MAYBE(struct world_join_request, reviewed_by, type_world_ref),
    MAYBE(struct world_join_request, rejection_reason, type_form_text),
    MAYBE(struct world_join_request, responses, type_form_fields),
    { 0 },
};

static void validate_world_form(struct form *form, const struct json_path *here, const void *object)
{
    const struct world_member_form *f = object;
    struct json_path at = json_path_key(here, STR("form_fields"));

    member_form_fields_validate(form, &at, &f->form_fields);
    if (f->enabled.value && !f->form_fields.count)
        form_add_error(form, &at, "WORLD_NO_QUESTIONS",
                       "An enabled form needs at least one field.");
}

WORLD_SINGLE(member_form, member_form_fields, validate_world_form);
WORLD_OBJECT(join_request, join_request_fields, NULL);

/* --- membership forms ---------------------------------------------------------------- */

static enum err import_member_form(struct world_file_importer *im, const void *entry,
                                   const struct json_path *at, snowflake guild)
{
    const struct world_member_form *in = entry;

    (void)at;
    struct member_form form = {
        .guild_id = guild,
        .enabled = in->enabled.value,
        .version = in->version.given == GIVEN ? in->version.value : clock_us(),
        .description = in->description,
        .form_fields = in->form_fields,
    };
    enum err e = member_form_write(im->tx, &form);
    return e || !form.enabled ? e
                              : guild_add_feature_without_event(im->tx, guild, SCREENING_FEATURE);
}

static enum err export_member_form(struct world_file_exporter *ex, struct opt_object *ret)
{
    struct world_member_form *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct member_form form;
    enum err e = member_form_find(ex->tx, ex->guild, &form);

    if (e)
        return e == ERR_UNKNOWN_MEMBER_FORM ? OK : e;
    *out = (struct world_member_form){
        .enabled = { form.enabled ? GIVEN : ABSENT, form.enabled },
        .version = opt_int_present(form.version),
        .description = export_optional_text(form.description),
        .form_fields = form.form_fields,
    };
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

/* --- join requests ------------------------------------------------------------------- */

/* Finds the join request of a user in a guild. A user has at most one per guild. */
static const char FIND_REQUEST[] =
    "select id from join_requests where guild_id = $1 and user_id = $2";
static const char REQUEST_BY_ID[] = "select 1 from join_requests where id = $1";
static enum err resolve_join_request_id(struct world_file_importer *im,
                                        const struct world_join_request *in, snowflake guild,
                                        snowflake user, const struct json_path *up, snowflake *ret)
{
    struct json_path at = json_path_key(up, STR("id"));
    struct rows row;
    bool known, taken = false;
    enum err e = tx_one(im->tx, FIND_REQUEST, BIND(v_id(guild), v_id(user)), &row, &known);

    *ret = known ? row_id(&row, 0) : in->id.given == GIVEN ? in->id.value : snowflake_new();
    if (!e && !known)
        e = tx_one(im->tx, REQUEST_BY_ID, BIND(v_id(*ret)), &row, &taken);
    if (taken)
        form_add_error(im->form, &at, "WORLD_TAKEN", "this id belongs to another request");
    return e;
}

static enum err import_join_request(struct world_file_importer *im, const void *entry,
                                    const struct json_path *at, snowflake guild)
{
    const struct world_join_request *in = entry;
    struct json_path user_at = json_path_key(at, STR("user"));
    unsigned before = im->form->problems;
    snowflake id = 0, user = 0, by = 0;
    enum err e = world_file_resolve_reference(im, &user_naming, 0, in->user, &user_at, &user);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->reviewed_by, at,
                                                  "reviewed_by", &by);
    if (!e && user)
        e = resolve_join_request_id(im, in, guild, user, at, &id);
    if (e || im->form->problems != before)
        return e;
    int64_t made =
        in->created_at.given == GIVEN ? in->created_at.value : snowflake_to_ms(id) * 1000;
    return join_request_write(im->tx, &(struct join_request){
                                          .id = id,
                                          .guild_id = guild,
                                          .user_id = user,
                                          .status = join_status_parse(in->status),
                                          .created_at = made,
                                          .reviewed_at = in->reviewed_at,
                                          .reviewed_by = by,
                                          .rejection_reason = in->rejection_reason,
                                          .form_responses = in->responses.value,
                                      });
}

static const char REQUESTS[] =
    "select r.id, u.username, r.status, r.created_at, r.reviewed_at, b.username, "
    "r.rejection_reason, r.responses from join_requests r join users u on u.id = r.user_id "
    "left join users b on b.id = r.reviewed_by where r.guild_id = $1 order by r.id";

static bool world_join_request_from_row(struct world_file_exporter *ex, const struct rows *r,
                                        void *entry)
{
    struct world_join_request *q = entry;

    *q = (struct world_join_request){
        .id = opt_id_or_null(row_id(r, 0)),
        .user = row_text(r, 1),
        .status = join_request_status_name(row_int(r, 2)),
        .created_at = export_nondefault_int(r, 3, -1),
        .reviewed_at = export_nondefault_int(r, 4, -1),
        .reviewed_by = export_nondefault_text(r, 5, NULL),
        .rejection_reason = export_nondefault_text(r, 6, NULL),
    };
    q->responses.value =
        json_column_decode_list(tx_arena(ex->tx), &type_form_fields, row_text(r, 7));
    q->responses.given = q->responses.value.count ? GIVEN : ABSENT;
    return true;
}

const struct world_file_fields join_requests_world = { (const struct world_file_field[]){
    { "guild", "join_requests", &world_join_request_list, .order = 140,
      .import = import_join_request, .select = { &REQUESTS }, .read = world_join_request_from_row },
    { "guild", "member_form", &world_member_form_type, .order = 200, .import = import_member_form,
      .export_object = export_member_form },
    { 0 },
} };
