/* private.c - import and export of direct channels and groups in world files (JSON data sets). */
#include "base/clock.h"
#include "model/channel.h"
#include "model/fields/ids.h"
#include "platform/channels/internal.h"
#include "platform/worlds/import_export.h"

/* Entry of a direct channel (two users) or a group. */
struct world_private {
    struct opt_id id;
    struct opt_str name, owner;
    struct opt_list people; /* struct str */
};
static const struct field private_fields[] = {
    MAYBE(struct world_private, id, type_id),
    MAYBE(struct world_private, name, type_world_name),
    MAYBE(struct world_private, owner, type_world_ref),
    MAYBE(struct world_private, people, type_world_refs),
    WORLD_FILE_FIELD("messages"),
    { 0 },
};

WORLD_OBJECT(private, private_fields, NULL);

/* --- direct channels ------------------------------------------------------------------ */

static enum err import_direct_channel(struct world_file_importer *im, const void *entry,
                                      const struct json_path *at, snowflake id)
{
    const struct world_private *p = entry;
    struct json_path people_at = json_path_key(at, STR("people"));
    unsigned before = im->form->problems;
    struct list people = { 0 };
    snowflake known;
    enum err e =
        world_file_resolve_references(im, &user_naming, 0, &p->people, at, "people", &people);

    if (e || im->form->problems != before)
        return e;
    const snowflake *who = people.items;
    if (people.count != 2 || who[0] == who[1]) {
        form_add_error(im->form, &people_at, "WORLD_NOT_TWO",
                       "a direct channel needs exactly two different users");
        return OK;
    }
    e = direct_channel_find(im->tx, who[0], who[1], &known);
    if (e)
        return e;
    count(im, COUNT_CHANNELS, !known);
    id = known ? known : p->id.given == GIVEN ? p->id.value : snowflake_new();
    if (!known)
        e = direct_channel_insert(im->tx, id, who[0], who[1], false);
    return e ? e : world_file_import_fields(im, "private", entry, at, id);
}

/* --- group channels ------------------------------------------------------------------ */

static const char GROUP_BY_ID[] = "select id from channels where id = $1 and type = 3";
static const char GROUP_BY_NAME[] =
    "select id from channels where name = $1 and owner_id = $2 and type = 3 order by id limit 1";

static enum err find_imported_group(struct world_file_importer *im, const struct world_private *p,
                                    snowflake owner, snowflake *ret)
{
    if (p->id.given == GIVEN)
        return tx_read_id(im->tx, GROUP_BY_ID, BIND(v_id(p->id.value)), ret);
    return tx_read_id(im->tx, GROUP_BY_NAME, BIND(sql_value_of_optional_text(p->name), v_id(owner)),
                      ret);
}

static enum err import_group_channel(struct world_file_importer *im, const void *entry,
                                     const struct json_path *at, snowflake id)
{
    const struct world_private *p = entry;
    unsigned before = im->form->problems;
    struct list people = { 0 };
    snowflake owner = 0;
    enum err e =
        world_file_resolve_references(im, &user_naming, 0, &p->people, at, "people", &people);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &p->owner, at, "owner",
                                                  &owner);
    if (!owner || (p->id.given != GIVEN && p->name.given != GIVEN))
        form_add_error(im->form, at, "WORLD_GROUP", "a group needs an owner, and a name or an id");
    if (e || im->form->problems != before)
        return e;
    e = find_imported_group(im, p, owner, &id);
    if (e)
        return e;
    count(im, COUNT_CHANNELS, !id);
    id_list_add(im->arena, &people, owner);
    if (!id) {
        id = p->id.given == GIVEN ? p->id.value : snowflake_new();
        e = channel_insert(im->tx, &(struct channel){ .id = id,
                                                      .type = CHANNEL_GROUP,
                                                      .name = p->name,
                                                      .owner_id = opt_id_or_null(owner) });
    }
    if (!e)
        e = channel_recipients_insert(im->tx, id, &people, false);
    return e ? e : world_file_import_fields(im, "private", entry, at, id);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char PEOPLE[] = "select u.username from recipients r join users u on u.id = r.user_id "
                             "where r.channel_id = $1 order by r.user_id";
static const char PRIVATE_CHANNELS[] =
    "select c.id, c.name, u.username from channels c left join users u "
    "on u.id = c.owner_id where c.type = $1 order by c.id";

static enum err export_recipients(struct tx *tx, snowflake channel, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, PEOPLE, BIND(v_id(channel)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct str *)export_add_list_item(tx, ret, sizeof(struct str)) = row_text(&r, 0);
    return rows_end(&r);
}

/* Exports all private channels of one type: direct channels, or groups. */
static enum err export_private_channels(struct world_file_exporter *ex, int64_t type,
                                        struct opt_list *ret)
{
    size_t size = world_file_entry_size(ex->format, "private");
    struct rows r;
    enum err e = tx_query(ex->tx, PRIVATE_CHANNELS, BIND(v_int(type)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_private *p = world_file_entry_add(ex, "private", ret);

        *p = (struct world_private){
            .id = { GIVEN, row_id(&r, 0) },
            .name = export_nondefault_text(&r, 1, NULL),
            .owner = export_nondefault_text(&r, 2, NULL),
        };
    }
    e = rows_end(&r);
    char *entry = ret->value.items;
    for (size_t i = 0; i < ret->value.count && !e; i++, entry += size) {
        struct world_private *p = (void *)entry;

        ex->channel = p->id.value;
        e = export_recipients(ex->tx, p->id.value, &p->people);
        if (!e)
            e = world_file_export_fields(ex, "private", ex->channel, entry, 1);
    }
    return e;
}

static enum err export_direct_channels(struct world_file_exporter *ex, struct opt_list *ret)
{
    return export_private_channels(ex, CHANNEL_DM, ret);
}

static enum err export_group_channels(struct world_file_exporter *ex, struct opt_list *ret)
{
    return export_private_channels(ex, CHANNEL_GROUP, ret);
}

const struct world_file_fields private_channels_world = { (const struct world_file_field[]){
    { NULL, "directs", &world_private_list, "private", 70, .import = import_direct_channel,
      .export = export_direct_channels },
    { NULL, "groups", &world_private_list, "private", 80, .import = import_group_channel,
      .export = export_group_channels },
    { 0 },
} };
