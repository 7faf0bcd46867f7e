/* create_modify.c - creates and modifies applications. */
#include "platform/applications/internal.h"

#include "platform/applications/endpoint.h"

/* Data that the stages of a call pass on to the handler that creates or modifies an application. */
struct application_change {
    snowflake id;
    struct opt_str icon, cover_image; /* hashes of the new pictures, which are already stored */
    struct application_install_counts counts;
};

static enum err store_application_pictures(struct call *call)
{
    const struct application_patch *in = call->body;
    struct application_change *change = call_get_stage_data(call, "application_change");
    enum err e = store_uploaded_picture(call, "app-icons", change->id, &in->icon, &change->icon);

    return e ? e
             : store_uploaded_picture(call, "app-icons", change->id, &in->cover_image,
                                      &change->cover_image);
}

/* Adds a form error if the user or team already has the maximum number of applications. */
enum err check_application_limit(struct call *call, snowflake owner_id, snowflake team_id)
{
    int64_t count;
    enum err e = applications_count_of_owner(call->tx, owner_id, team_id, &count);

    if (e)
        return e;
    if (count >= (team_id ? MAX_APPLICATIONS_PER_TEAM : MAX_APPLICATIONS_PER_USER))
        return call_add_field_error(call, NULL, "APPLICATION_LIMIT_REACHED",
                                    team_id ? "A team has at most 25 applications."
                                            : "An account has at most 50 applications.");
    return OK;
}

/* --- POST /applications --------------------------------------------------------------- */

enum err schedule_storing_new_application_icon(struct call *call)
{
    const struct application_patch *in = call->body;
    struct application_change *change =
        call_store_stage_data(call, "application_change", sizeof *change);

    change->id = snowflake_new();
    if (in->icon.given == GIVEN)
        call->compute = store_application_pictures;
    return OK;
}

static enum err require_team_developer(struct call *call, snowflake team_id)
{
    struct team team;
    enum err e = team_find(call->tx, team_id, &team);

    if (e)
        return e;
    enum team_access_level level = team_access_level_of_user(&team, call->caller->id);
    if (level == TEAM_ACCESS_NONE)
        return ERR_MISSING_ACCESS;
    return level >= TEAM_ACCESS_DEVELOPER ? OK : ERR_MISSING_PERMISSIONS;
}

enum err create_application(struct call *call)
{
    const struct application_patch *in = call->body;
    const struct application_change *change = call_get_stage_data(call, "application_change");
    snowflake team_id = in->team_id.given == GIVEN ? in->team_id.value : 0;
    struct application a;
    struct new_application draft = {
        .id = change->id,
        .name = in->name.value,
        .description = in->description.value,
        .icon = change->icon,
        .owner_id = call->caller->id,
        .team_id = team_id,
        .redirect_uris = in->redirect_uris.value,
        .flags = in->flags.given == GIVEN ? in->flags.value
                                          : api_get_options(call->api)->application_flags,
    };

    enum err e = team_id ? require_team_developer(call, team_id) : OK;
    if (!e)
        e = check_application_limit(call, call->caller->id, team_id);
    if (!e)
        e = application_create(call->tx, api_get_options(call->api)->auth, &draft, &a);
    if (!e)
        e = application_read_owner_and_team(call->tx, &a);
    return e ? e : call_reply_with_object(call, &a);
}

/* --- PATCH /applications/{application.id}, /applications/@me -------------------------- */

static bool url_is_given(const struct opt_str *url)
{
    return url->given == GIVEN && url->value.n > 0;
}

/* If the body sets another interactions endpoint URL, tests the endpoint before the URL is stored:
 * it must reply to a PING and must verify signatures. */
static void probe_interactions_endpoint_if_changed(struct call *call)
{
    const struct opt_str *to = &((const struct application_patch *)call->body)
                                    ->interactions_endpoint_url,
                         *from = &call->target.application->interactions_endpoint_url;

    if (url_is_given(to) && !(url_is_given(from) && str_eq(to->value, from->value)))
        call->await = interactions_endpoint_verify_with_pings;
}

/* Counts the installations in the read stage, because counting up to 500,000 rows would block the
 * writer thread. */
static enum err read_installation_counts(struct call *call)
{
    struct application_change *change = call_get_stage_data(call, "application_change");

    probe_interactions_endpoint_if_changed(call);
    return application_count_installations(call->tx, change->id, &change->counts);
}

/* Checks the caller's access in the read stage, so that a caller without access does not cause a
 * picture to be stored or an endpoint to be tested. */
static enum err read_application_to_modify(struct call *call)
{
    enum err e = resolve_application(call);

    if (!e)
        e = require_application_developer(call);
    return e ? e : read_installation_counts(call);
}

static enum err read_caller_application(struct call *call)
{
    enum err e = resolve_caller_application(call);

    return e ? e : read_installation_counts(call);
}

static void schedule_checks_of_application_patch(struct call *call, snowflake id,
                                                 enum err (*read_step)(struct call *))
{
    const struct application_patch *in = call->body;
    struct application_change *change =
        call_store_stage_data(call, "application_change", sizeof *change);

    change->id = id;
    if (in->icon.given != ABSENT || in->cover_image.given != ABSENT)
        call->compute = store_application_pictures;
    call->read = read_step;
}

enum err schedule_application_patch_checks(struct call *call)
{
    schedule_checks_of_application_patch(call, call_get_path_id(call, "application.id"),
                                         read_application_to_modify);
    return OK;
}

enum err schedule_current_application_patch_checks(struct call *call)
{
    schedule_checks_of_application_patch(call, call->caller->application_id,
                                         read_caller_application);
    return OK;
}

/* An absent URL leaves the field unchanged; null and "" clear it. */
static void copy_optional_url_if_given(struct opt_str *field, const struct opt_str *in,
                                       enum field_presence none)
{
    if (in->given == ABSENT)
        return;
    *field = *in;
    if (in->given == GIVEN_NULL || in->value.n == 0)
        *field = (struct opt_str){ .given = none };
}

static void copy_optional_list_if_given(struct list *field, const struct opt_list *in,
                                        struct list fallback)
{
    if (in->given != ABSENT)
        *field = in->given == GIVEN ? in->value : fallback;
}

static void copy_optional_bool_if_given(bool *field, const struct opt_bool *in, bool fallback)
{
    if (in->given != ABSENT)
        *field = in->given == GIVEN ? in->value : fallback;
}

static void apply_install_settings(const struct application_patch *in, struct application *a)
{
    copy_optional_list_if_given(&a->integration_types_config, &in->integration_types_config,
                                get_default_application_install_types());
    if (in->install_params.given != ABSENT)
        a->install_params = in->install_params.value;
    copy_optional_url_if_given(&a->custom_install_url, &in->custom_install_url, ABSENT);
    /* bot_* and integration_* are two names of the same field. If the body has both, integration_*
     * is used. */
    copy_optional_bool_if_given(&a->integration_public, &in->bot_public, true);
    copy_optional_bool_if_given(&a->integration_public, &in->integration_public, true);
    copy_optional_bool_if_given(&a->integration_require_code_grant, &in->bot_require_code_grant,
                                false);
    copy_optional_bool_if_given(&a->integration_require_code_grant,
                                &in->integration_require_code_grant, false);
    a->bot_public = a->integration_public;
    a->bot_require_code_grant = a->integration_require_code_grant;
}

static void apply_urls_and_webhooks(const struct application_patch *in, struct application *a)
{
    copy_optional_url_if_given(&a->terms_of_service_url, &in->terms_of_service_url, ABSENT);
    copy_optional_url_if_given(&a->privacy_policy_url, &in->privacy_policy_url, ABSENT);
    copy_optional_url_if_given(&a->event_webhooks_url, &in->event_webhooks_url, GIVEN_NULL);
    copy_optional_list_if_given(&a->event_webhooks_types, &in->event_webhooks_types,
                                (struct list){ 0 });
    if (in->event_webhooks_status.given != ABSENT)
        a->event_webhooks_status = in->event_webhooks_status.given == GIVEN
                                       ? in->event_webhooks_status.value
                                       : EVENT_WEBHOOKS_OFF;
}

static void apply_application_patch(const struct call *call, struct application *a)
{
    const struct application_patch *in = call->body;
    const struct application_change *change = call_get_stage_data(call, "application_change");

    if (in->name.given == GIVEN)
        a->name = in->name.value;
    if (in->description.given != ABSENT)
        a->description = in->description.given == GIVEN ? in->description.value : STR("");
    if (in->icon.given != ABSENT)
        a->icon = change->icon;
    if (in->cover_image.given != ABSENT)
        a->cover_image =
            in->cover_image.given == GIVEN ? change->cover_image : (struct opt_str){ 0 };
    copy_optional_list_if_given(&a->redirect_uris, &in->redirect_uris, (struct list){ 0 });
    copy_optional_list_if_given(&a->tags, &in->tags, (struct list){ 0 });
    copy_optional_url_if_given(&a->interactions_endpoint_url, &in->interactions_endpoint_url,
                               GIVEN_NULL);
    copy_optional_url_if_given(&a->role_connections_verification_url,
                               &in->role_connections_verification_url, GIVEN_NULL);
    if (in->flags.given == GIVEN)
        application_set_flags(a, (a->flags & ~(int64_t)APPLICATION_FLAGS_SETTABLE) |
                                     (in->flags.value & APPLICATION_FLAGS_SETTABLE));
    apply_install_settings(in, a);
    apply_urls_and_webhooks(in, a);
}

/* True if the applications differ in a field that the application command index contains, too. */
static bool command_index_fields_differ(const struct application *a, const struct application *b)
{
    return !str_eq(a->name, b->name) || !str_eq(a->description, b->description) ||
           !str_eq(a->icon.value, b->icon.value) || a->flags != b->flags;
}

/* True if the body sets team_id to null or to another team. This route refuses that: only the
 * transfer route may change the team. */
static bool patch_changes_team(const struct call *call)
{
    const struct application_patch *in = call->body;

    return in->team_id.given != ABSENT && in->team_id.value != call->target.application->team_id;
}

enum err modify_application(struct call *call)
{
    struct application *a = call->target.application, before = *a;
    const struct application_change *change = call_get_stage_data(call, "application_change");

    if (patch_changes_team(call))
        return call_add_field_error(
            call, "team_id", FORM_CHOICES,
            "Value must be the application's team: a transfer has its own route.");
    application_set_install_counts(a, &change->counts);
    apply_application_patch(call, a);
    enum err e = delete_previous_picture(call, "app-icons", a->id, &before.icon, &a->icon);
    if (!e)
        e = delete_previous_picture(call, "app-icons", a->id, &before.cover_image, &a->cover_image);
    if (!e)
        e = application_update(call->tx, a);
    if (!e && command_index_fields_differ(a, &before))
        e = hook_command_index_changed(call, a->id);
    if (!e)
        e = bot_update_http_interactions_flag(call->tx, a);
    if (!e)
        e = application_read_owner_and_team(call->tx, a);
    return e ? e : call_reply_with_object(call, a);
}

enum err modify_current_application(struct call *call)
{
    enum err e = resolve_caller_application(call);

    return e ? e : modify_application(call);
}
