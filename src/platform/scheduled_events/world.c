/* world.c - import and export of scheduled events in world files (JSON data sets). */
#include "base/clock.h"
#include "base/mem.h"
#include "model/channel.h"
#include "model/fields/ids.h"
#include "platform/scheduled_events/internal.h"
#include "api/jobs/jobs.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_event_exception {
    int64_t original_start;
    struct opt_int scheduled_start_time, scheduled_end_time;
    struct opt_bool is_canceled;
};
struct world_event {
    struct opt_id id;
    struct str name;
    struct opt_str by, description, channel, location, status;
    int64_t scheduled_start_time;
    struct opt_int scheduled_end_time;
    struct opt_object recurrence_rule; /* struct scheduled_event_recurrence */
    struct opt_list exceptions;        /* struct world_event_exception */
    struct opt_list users;             /* struct str */
    struct opt_str image;              /* hash of a picture in the archive of a copied guild */
};

static const struct type type_location = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct enum_choice status_choices[] = {
    { EVENT_SCHEDULED, "scheduled", "SCHEDULED", "It is planned" },
    { EVENT_ACTIVE, "active", "ACTIVE", "It is going on" },
    { EVENT_COMPLETED, "completed", "COMPLETED", "It is over" },
    { EVENT_CANCELED, "canceled", "CANCELED", "It is cancelled" },
    { 0 },
};
static const struct type type_status_word = { .kind = KIND_STRING, .choices = status_choices };

static const struct field event_exception_fields[] = {
    MUST(struct world_event_exception, original_start, type_time),
    MAYBE(struct world_event_exception, scheduled_start_time, type_time),
    MAYBE(struct world_event_exception, scheduled_end_time, type_time),
    MAYBE(struct world_event_exception, is_canceled, type_bool),
    { 0 },
};

/* Checks that a snowflake can contain the original start time, because the snowflake of that time
 * is the id of the occurrence. */
static void check_scheduled_event_exception_entry(struct form *form, const struct json_path *here,
                                                  const void *object)
{
    const struct world_event_exception *x = object;
    struct json_path at = json_path_key(here, STR("original_start"));

    if (x->original_start / 1000 > SNOWFLAKE_EPOCH_MS + (INT64_MAX >> 22))
        form_add_error(form, &at, "WORLD_NO_ID", "The time is outside the range of ids.");
}

WORLD_OBJECT(event_exception, event_exception_fields, check_scheduled_event_exception_entry);

static const struct field event_fields[] = {
    MAYBE(struct world_event, id, type_id),
    MUST(struct world_event, name, type_event_name),
    MAYBE(struct world_event, by, type_world_ref),
    MAYBE(struct world_event, description, type_event_description),
    MAYBE(struct world_event, channel, type_world_ref),
    MAYBE(struct world_event, location, type_location),
    MAYBE(struct world_event, status, type_status_word),
    MUST(struct world_event, scheduled_start_time, type_time),
    MAYBE(struct world_event, scheduled_end_time, type_time),
    MAYBE(struct world_event, recurrence_rule, type_event_recurrence_input),
    MAYBE(struct world_event, exceptions, world_event_exception_list),
    MAYBE(struct world_event, users, type_world_refs),
    MAYBE(struct world_event, image, type_world_name),
    { 0 },
};
static void check_scheduled_event_entry(struct form *form, const struct json_path *here,
                                        const void *object)
{
    const struct world_event *e = object;
    struct json_path end_at = json_path_key(here, STR("scheduled_end_time")),
                     rule_at = json_path_key(here, STR("recurrence_rule"));
    bool ends = e->scheduled_end_time.given == GIVEN;

    if ((e->channel.given == GIVEN) == (e->location.given == GIVEN))
        form_add_error(form, here, "WORLD_ONE_OF",
                       "An event needs either a channel or a location.");
    if (e->location.given == GIVEN && !ends)
        form_add_error(form, &end_at, FORM_REQUIRED);
    if (ends && e->scheduled_end_time.value <= e->scheduled_start_time)
        form_add_error(form, &end_at, "WORLD_ENDS_FIRST", "The event must end after it starts.");
    if (e->recurrence_rule.value)
        validate_recurrence_rule(form, &rule_at, e->recurrence_rule.value);
}

WORLD_OBJECT(event, event_fields, check_scheduled_event_entry);

/* --- import --------------------------------------------------------------------------- */

const struct world_file_name_lookup event_naming =
    WORLD_NAME_LOOKUP("event", "scheduled_events", "guild_id");
static const char TYPE_OF_CHANNEL[] = "select type from channels where id = $1";

/* Sets the entity type of a scheduled event: by the type of its channel or, if it has none,
 * external. */
static enum err set_location_of_imported_event(struct world_file_importer *im,
                                               const struct world_event *in, snowflake channel,
                                               const struct json_path *at,
                                               struct scheduled_event *ret)
{
    struct scheduled_event_metadata *metadata = arena_alloc(im->arena, sizeof *metadata);
    int64_t n = 0;

    metadata->location = in->location;
    ret->entity_type = EVENT_EXTERNAL;
    ret->entity_metadata = metadata;
    if (!channel)
        return OK;
    enum err e = tx_read_int(im->tx, TYPE_OF_CHANNEL, BIND(v_id(channel)), &n);
    ret->entity_metadata = NULL;
    ret->channel_id = opt_id_or_null(channel);
    if (!e && n == CHANNEL_STAGE)
        ret->entity_type = EVENT_IN_STAGE;
    else if (!e && n == CHANNEL_VOICE)
        ret->entity_type = EVENT_IN_VOICE;
    else if (!e)
        form_add_error(im->form, at, "WORLD_WRONG_KIND", "an event needs a voice or stage channel");
    return e;
}

static int64_t parse_event_status(const struct world_event *in)
{
    for (const struct enum_choice *c = status_choices; c->text; c++)
        if (in->status.given == GIVEN && str_is(in->status.value, c->text))
            return c->value;
    return EVENT_SCHEDULED;
}

static struct list exceptions_from_world_entry(struct world_file_importer *im,
                                               const struct world_event *in, snowflake id)
{
    const struct world_event_exception *x = in->exceptions.value.items;
    struct list out = { 0 };

    for (size_t i = 0; i < in->exceptions.value.count; i++) {
        struct scheduled_event_exception *to = list_append(im->arena, &out, sizeof *to);

        *to = (struct scheduled_event_exception){
            .event_id = id,
            .event_exception_id = snowflake_from_ms(x[i].original_start / 1000),
            .scheduled_start_time = x[i].scheduled_start_time,
            .scheduled_end_time = x[i].scheduled_end_time,
            .is_canceled = x[i].is_canceled.value,
        };
        if (to->scheduled_start_time.given != GIVEN)
            to->scheduled_start_time.given = GIVEN_NULL;
        if (to->scheduled_end_time.given != GIVEN)
            to->scheduled_end_time.given = GIVEN_NULL;
    }
    return out;
}

static enum err import_event_subscribers(struct world_file_importer *im, const struct list *users,
                                         snowflake id)
{
    const snowflake *who = users->items;
    enum err e = OK;
    bool changed;

    for (size_t i = 0; !e && i < users->count; i++)
        e = scheduled_event_subscriber_save(im->tx, id, 0, who[i], 1, &changed);
    return e;
}

static enum err save_imported_scheduled_event(struct world_file_importer *im,
                                              const struct world_event *in,
                                              struct scheduled_event *event,
                                              const struct list *users)
{
    bool open = event->status == EVENT_SCHEDULED || event->status == EVENT_ACTIVE;
    struct scheduled_event before;
    enum err e = scheduled_event_find(im->tx, event->guild_id, event->id, &before);

    if (e && e != ERR_UNKNOWN_SCHEDULED_EVENT)
        return e;
    if (!e)
        event->image = before.image;
    e = world_file_import_archived_picture(im, "guild-events", event->id, &in->image,
                                           &event->image);
    if (e)
        return e;
    event->guild_scheduled_event_exceptions = exceptions_from_world_entry(im, in, event->id);
    if (!open)
        event->ended_at = clock_us();
    e = scheduled_event_insert(im->tx, event);
    if (!e)
        e = import_event_subscribers(im, users, event->id);
    /* After the import, the job of the scheduled event checks whether it must start or end. */
    return e ? e
             : insert_job_row(im->tx, "scheduled-event", event->id,
                              open ? event->scheduled_start_time : clock_us(), STR(""));
}

static enum err import_scheduled_event(struct world_file_importer *im, const void *entry,
                                       const struct json_path *at, snowflake guild)
{
    const struct world_event *in = entry;
    struct json_path channel_at = json_path_key(at, STR("channel"));
    unsigned before = im->form->problems;
    struct list users = { 0 };
    snowflake by = 0, channel = 0;
    struct scheduled_event event = {
        .guild_id = guild,
        .name = in->name,
        .description = in->description,
        .scheduled_start_time = in->scheduled_start_time,
        .scheduled_end_time = in->scheduled_end_time,
        .status = parse_event_status(in),
        .recurrence_rule = in->recurrence_rule.value,
    };
    enum err e =
        world_file_resolve_entry_id(im, &event_naming, guild, in->id, in->name, at, &event.id);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->by, at, "by", &by);
    if (!e)
        e = world_file_resolve_optional_reference(im, &channel_naming, guild, &in->channel, at,
                                                  "channel", &channel);
    if (!e && im->form->problems == before)
        e = set_location_of_imported_event(im, in, channel, &channel_at, &event);
    if (!e)
        e = world_file_resolve_references(im, &user_naming, 0, &in->users, at, "users", &users);
    if (e || im->form->problems != before)
        return e;
    if (by)
        event.creator_id = opt_id_or_null(by);
    return save_imported_scheduled_event(im, in, &event, &users);
}

/* --- export --------------------------------------------------------------------------- */

static const char EVENT_USERS[] =
    "select s.event_id, u.username from scheduled_event_users s join users u on u.id = s.user_id "
    "join scheduled_events e on e.id = s.event_id where e.guild_id = $1 and s.exception_id = 0 "
    "and s.response = 1 order by s.event_id, s.user_id";
static const char NAMES_OF_USERS[] = "select username from users where id = $1";

static struct opt_list exceptions_to_world_entries(struct tx *tx, const struct list *exceptions)
{
    const struct scheduled_event_exception *x = exceptions->items;
    struct opt_list out = { 0 };

    for (size_t i = 0; i < exceptions->count; i++)
        *(struct world_event_exception *)export_add_list_item(
            tx, &out, sizeof(struct world_event_exception)) = (struct world_event_exception){
            .original_start = snowflake_to_ms(x[i].event_exception_id) * 1000,
            .scheduled_start_time = export_optional_int(x[i].scheduled_start_time),
            .scheduled_end_time = export_optional_int(x[i].scheduled_end_time),
            .is_canceled = { x[i].is_canceled ? GIVEN : ABSENT, x[i].is_canceled },
        };
    return out;
}

static enum err read_username(struct tx *tx, struct opt_id id, struct opt_str *ret)
{
    struct rows row;
    bool found = false;
    enum err e =
        id.given == GIVEN ? tx_one(tx, NAMES_OF_USERS, BIND(v_id(id.value)), &row, &found) : OK;

    if (!e && found)
        *ret = opt_str_or_null(row_text(&row, 0));
    return e;
}

static enum err scheduled_event_to_entry(struct world_file_exporter *ex,
                                         const struct scheduled_event *e, struct world_event *ret)
{
    *ret = (struct world_event){
        .id = opt_id_or_null(e->id),
        .name = e->name,
        .description = export_optional_text(e->description),
        .scheduled_start_time = e->scheduled_start_time,
        .scheduled_end_time = export_optional_int(e->scheduled_end_time),
        .recurrence_rule = { e->recurrence_rule ? GIVEN : ABSENT, e->recurrence_rule },
        .exceptions = exceptions_to_world_entries(ex->tx, &e->guild_scheduled_event_exceptions),
    };
    for (const struct enum_choice *c = status_choices; c->text; c++)
        if (c->value == e->status && e->status != EVENT_SCHEDULED)
            ret->status = opt_str_or_null(str_of(c->text));
    if (e->channel_id.given == GIVEN)
        ret->channel = world_file_export_reference(ex->tx, &ex->channels, e->channel_id.value);
    else if (e->entity_metadata)
        ret->location = e->entity_metadata->location;
    return read_username(ex->tx, e->creator_id, &ret->by);
}

static enum err export_event_subscribers(struct world_file_exporter *ex, struct opt_list *events)
{
    struct world_event *w = events->value.items, *end = w + events->value.count;
    struct rows r;
    enum err e = tx_query(ex->tx, EVENT_USERS, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        while (w < end && w->id.value < row_id(&r, 0))
            w++;
        if (w < end && w->id.value == row_id(&r, 0))
            *(struct str *)export_add_list_item(ex->tx, &w->users, sizeof(struct str)) =
                row_text(&r, 1);
    }
    return rows_end(&r);
}

/* Skips events whose channel was deleted. */
static enum err export_scheduled_events(struct world_file_exporter *ex, struct opt_list *ret)
{
    struct list all;
    enum err e = scheduled_events_read(ex->tx, ex->guild, false, &all);
    const struct scheduled_event *event = all.items;

    for (size_t i = 0; !e && i < all.count; i++) {
        struct world_event out;

        e = scheduled_event_to_entry(ex, &event[i], &out);
        if (!e && (out.channel.given == GIVEN || out.location.given == GIVEN))
            *(struct world_event *)export_add_list_item(ex->tx, ret, sizeof out) = out;
    }
    return e || !ret->value.count ? e : export_event_subscribers(ex, ret);
}

const struct world_file_fields scheduled_events_world = { (const struct world_file_field[]){
    { "guild", "scheduled_events", &world_event_list, .order = 150,
      .import = import_scheduled_event, .export = export_scheduled_events },
    { 0 },
} };
