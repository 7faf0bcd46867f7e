/* world.c - import and export of open stages in world files (JSON data sets). */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/channel.h"
#include "model/stage.h"
#include "platform/scheduled_events/scheduled_events.h"
#include "platform/worlds/import_export.h"
#include "voice/states.h"

/* --- schemas -------------------------------------------------------------------------- */

struct world_stage {
    struct opt_id id;
    struct str channel, topic;
    struct opt_int privacy_level;
    struct opt_str event;
};
static const struct field stage_fields[] = {
    MAYBE(struct world_stage, id, type_id),
    MUST(struct world_stage, channel, type_world_ref),
    MUST(struct world_stage, topic, type_stage_topic),
    MAYBE(struct world_stage, privacy_level, type_stage_privacy),
    MAYBE(struct world_stage, event, type_world_ref),
    { 0 },
};

WORLD_OBJECT(stage, stage_fields, NULL);

/* --- import and export ---------------------------------------------------------------- */

static const char FIND_CHANNEL_TYPE[] = "select type from channels where id = $1";
#define SILENCE_US (INT64_C(5) * 60 * 1000000)

static const char FIND_STAGE_OF_CHANNEL[] = "select id from stage_instances where channel_id = $1";
static const char STAGE_BY_ID[] = "select 1 from stage_instances where id = $1";
static const char LIST_STAGES[] =
    "select id, channel_id, topic, privacy_level, scheduled_event_id from stage_instances "
    "where guild_id = $1 order by id";

static enum err resolve_stage_id(struct world_file_importer *im, const struct world_stage *in,
                                 snowflake channel, const struct json_path *up, snowflake *ret)
{
    struct json_path at = json_path_key(up, STR("id")),
                     channel_at = json_path_key(up, STR("channel"));
    struct rows row;
    bool known, found, taken = false;
    enum err e = tx_one(im->tx, FIND_CHANNEL_TYPE, BIND(v_id(channel)), &row, &found);

    if (!e && row_int(&row, 0) != CHANNEL_STAGE)
        form_add_error(im->form, &channel_at, "WORLD_WRONG_KIND",
                       "stages are open in stage channels");
    if (!e)
        e = tx_one(im->tx, FIND_STAGE_OF_CHANNEL, BIND(v_id(channel)), &row, &known);
    if (e)
        return e;
    *ret = known ? row_id(&row, 0) : in->id.given == GIVEN ? in->id.value : snowflake_new();
    if (!known)
        e = tx_one(im->tx, STAGE_BY_ID, BIND(v_id(*ret)), &row, &taken);
    if (taken)
        form_add_error(im->form, &at, "WORLD_TAKEN", "this id belongs to another stage");
    return e;
}

/* Imports an open stage, which is closed after SILENCE_US unless a speaker joins. */
static enum err import_stage(struct world_file_importer *im, const void *entry,
                             const struct json_path *at, snowflake guild)
{
    const struct world_stage *in = entry;
    struct json_path channel_at = json_path_key(at, STR("channel"));
    unsigned before = im->form->problems;
    snowflake id = 0, channel = 0, event = 0;
    enum err e = world_file_resolve_reference(im, &channel_naming, guild, in->channel, &channel_at,
                                              &channel);

    if (!e)
        e = world_file_resolve_optional_reference(im, &event_naming, guild, &in->event, at, "event",
                                                  &event);
    if (!e && channel)
        e = resolve_stage_id(im, in, channel, at, &id);
    if (e || im->form->problems != before)
        return e;
    const struct stage_instance s = {
        .id = id,
        .guild_id = guild,
        .channel_id = channel,
        .topic = in->topic,
        .privacy_level =
            in->privacy_level.given == GIVEN ? in->privacy_level.value : STAGE_GUILD_ONLY,
        .guild_scheduled_event_id = opt_id_or_null(event),
    };
    e = stage_instance_insert(im->tx, &s, opt_int_present(clock_us()));
    return e ? e
             : insert_job_row(im->tx, "stage-silence", channel, clock_us() + SILENCE_US, STR(""));
}

static bool stage_entry_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    struct world_stage *s = entry;
    struct opt_str channel = world_file_export_reference(ex->tx, &ex->channels, row_id(r, 1));

    if (channel.given != GIVEN)
        return false;
    *s = (struct world_stage){ .id = opt_id_or_null(row_id(r, 0)),
                               .channel = channel.value,
                               .topic = row_text(r, 2),
                               .privacy_level = export_nondefault_int(r, 3, STAGE_GUILD_ONLY),
                               .event = format_optional_id_string(ex->tx, row_optional_id(r, 4)) };
    return true;
}

const struct world_file_fields stages_world = { (const struct world_file_field[]){
    { "guild", "stages", &world_stage_list, .order = 160, .import = import_stage,
      .select = { &LIST_STAGES }, .read = stage_entry_from_row },
    { 0 },
} };
