/* posted_messages.c - knows which messages of this server were posted on the source server, and
 * which messages and reactions of this server came from there.
 *
 * Messages that were copied from the source server are recognised because their ids are in the
 * archive. In the archive, posted-messages.jsonl has the ids of each posted message on both
 * servers. */
#include "tools/copy/follow/post_back.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"

enum { MAX_EXPECTED = 2000 };

static const char POSTED_FILE[] = "posted-messages.jsonl";

static void add_posted_message_to_map(struct source_guild_poster *b, snowflake here,
                                      snowflake there, snowflake channel)
{
    struct posted_message_ids *p = map_find_value(&b->by_here, here);

    if (p)
        map_remove_value(&b->by_there, p->there);
    map_remove_value(&b->by_here, here);
    if (!there)
        return;
    p = arena_alloc(b->names, sizeof *p);
    *p = (struct posted_message_ids){ here, there, channel };
    map_set_value(&b->by_here, here, p);
    map_set_value(&b->by_there, there, p);
}

static bool read_posted_message_of_journal_line(void *arg, struct str line, int64_t next_offset,
                                                struct arena *arena)
{
    (void)next_offset, (void)arena;
    add_posted_message_to_map(arg, json_member_get_id(line, "id"),
                              json_member_get_id(line, "there"),
                              json_member_get_id(line, "channel"));
    return true;
}

void source_guild_poster_read_posted_messages(struct source_guild_poster *b)
{
    guild_archive_for_each_line(b->follow->archive, POSTED_FILE, 0,
                                read_posted_message_of_journal_line, b);
}

bool source_guild_poster_open_posted_message_list(struct source_guild_poster *b)
{
    b->is_open = guild_archive_line_file_open(b->follow->archive, POSTED_FILE, "id", &b->posted);
    return b->is_open;
}

bool source_guild_poster_record_posted_message(struct source_guild_poster *b, snowflake here,
                                               snowflake there, snowflake channel)
{
    char line[200];
    int n =
        snprintf(line, sizeof line,
                 "{\"id\":\"%" PRIu64 "\",\"there\":\"%" PRIu64 "\",\"channel\":\"%" PRIu64 "\"}\n",
                 here, there, channel);

    add_posted_message_to_map(b, here, there, channel);
    return guild_archive_line_file_append(&b->posted, str_slice(line, (size_t)n));
}

snowflake source_guild_poster_find_original_message_id(const struct source_guild_poster *b,
                                                       snowflake id)
{
    const struct posted_message_ids *p = map_find_value(&b->by_there, id);

    return p ? p->here : 0;
}

/* --- events that result from changes of the source server ----------------------------- */

static char marker; /* value of sets */

/* Adds a key to a set of expected events. If the set is too large, clears it: the events of old
 * keys never came, because the command changed nothing. */
static void add_expected_change(struct map *set, uint64_t key)
{
    if (set->count >= MAX_EXPECTED) {
        map_clear(set);
        map_init(set);
    }
    map_set_value(set, key, &marker);
}

void source_guild_poster_ignore_event_of_message(struct source_guild_poster *b, snowflake id)
{
    add_expected_change(&b->expected_messages, id);
}

uint64_t source_guild_poster_reaction_key(snowflake message, snowflake user, struct str emoji,
                                          bool added)
{
    char text[300];
    int n = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %d %.*s", message, user, added,
                     (int)(emoji.n > 200 ? 200 : emoji.n), emoji.p);

    return hash_str(str_slice(text, (size_t)n));
}

void source_guild_poster_ignore_event_of_reaction(struct source_guild_poster *b, snowflake message,
                                                  snowflake user, struct str emoji, bool added)
{
    add_expected_change(&b->expected_reactions,
                        source_guild_poster_reaction_key(message, user, emoji, added));
}

struct archived_message_search {
    snowflake id;
    bool found;
};

static bool first_line_has_message_id(void *arg, struct str line, int64_t next_offset,
                                      struct arena *arena)
{
    struct archived_message_search *s = arg;

    (void)next_offset, (void)arena;
    s->found = json_member_get_id(line, "id") == s->id;
    return false;
}

bool source_guild_poster_archive_has_message(const struct source_guild_poster *b, snowflake channel,
                                             snowflake id)
{
    const struct guild_archive *a = b->follow->archive;
    struct archived_message_search s = { .id = id };
    struct guild_archive_line_file list;
    snowflake before;
    char name[100];
    off_t offset;

    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel);
    if (guild_archive_line_file_open(a, name, "id", &list) &&
        guild_archive_line_file_find_offset_of_id(&list, id, &offset, &before))
        guild_archive_for_each_line(a, name, offset, first_line_has_message_id, &s);
    guild_archive_line_file_close(&list);
    return s.found;
}

struct placeholder_query {
    snowflake user;
    bool found;
};

static enum err find_placeholder_of_user(struct tx *tx, void *arg)
{
    struct placeholder_query *q = arg;

    return tx_exists(tx, "select 1 from placeholder_accounts where user_id = $1",
                     BIND(v_id(q->user)), &q->found);
}

bool source_guild_poster_user_is_placeholder(const struct source_guild_poster *b, snowflake user)
{
    struct placeholder_query q = { .user = user };

    return follow_run_read_transaction(b->follow, find_placeholder_of_user, &q) && q.found;
}
