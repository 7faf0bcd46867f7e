/* skipped.c - messages of an archive that must not be imported (struct guild_copy_skipped_ids). */
#include <inttypes.h>
#include <stdio.h>

#include "tools/copy/archive/archive.h"
#include "tools/copy/archive/json_members.h"

static const char DELETED[] = "deleted-messages.jsonl", WEBHOOKS[] = "mirror-webhooks.jsonl";

static void append_id_to_skipped_list(struct map *ids, snowflake id)
{
    static char skipped;

    if (id)
        map_set_value(ids, id, &skipped);
}

static bool append_skipped_id_to_journal(void *arg, struct str line, int64_t next_offset,
                                         struct arena *arena)
{
    (void)next_offset, (void)arena;
    append_id_to_skipped_list(arg, json_member_get_id(line, "id"));
    return true;
}

void guild_copy_skipped_ids_read(const struct guild_archive *a, struct guild_copy_skipped_ids *ret)
{
    map_init(&ret->ids);
    map_init(&ret->webhooks);
    guild_archive_for_each_line(a, DELETED, 0, append_skipped_id_to_journal, &ret->ids);
    guild_archive_for_each_line(a, WEBHOOKS, 0, append_skipped_id_to_journal, &ret->webhooks);
}

void guild_copy_skipped_ids_clear(struct guild_copy_skipped_ids *s)
{
    map_clear(&s->ids);
    map_clear(&s->webhooks);
}

bool guild_copy_skipped_ids_contain_message(const struct guild_copy_skipped_ids *s,
                                            struct str message)
{
    return (s->ids.count && map_find_value(&s->ids, json_member_get_id(message, "id"))) ||
           (s->webhooks.count &&
            map_find_value(&s->webhooks, json_member_get_id(message, "webhook_id")));
}

bool guild_copy_skipped_ids_contain_webhook(const struct guild_copy_skipped_ids *s,
                                            snowflake webhook)
{
    return map_find_value(&s->webhooks, webhook);
}

static bool append_line_to_archive_list(struct map *ids, struct guild_archive *a, const char *name,
                                        snowflake id)
{
    struct guild_archive_line_file list;
    char line[64];
    int n = snprintf(line, sizeof line, "{\"id\":\"%" PRIu64 "\"}\n", id);

    if (map_find_value(ids, id))
        return true;
    append_id_to_skipped_list(ids, id);
    bool ok = guild_archive_line_file_open(a, name, "id", &list) &&
              guild_archive_line_file_append(&list, str_slice(line, (size_t)n));
    guild_archive_line_file_close(&list);
    return ok;
}

bool guild_copy_record_skipped_message(struct guild_copy_skipped_ids *s, struct guild_archive *a,
                                       snowflake id)
{
    return append_line_to_archive_list(&s->ids, a, DELETED, id);
}

bool guild_copy_record_skipped_webhook(struct guild_copy_skipped_ids *s, struct guild_archive *a,
                                       snowflake webhook)
{
    return append_line_to_archive_list(&s->webhooks, a, WEBHOOKS, webhook);
}
