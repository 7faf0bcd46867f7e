/* search.c - searches the threads of a channel by name, tags and time. There is no index of thread
 * names, so a background read reads a few columns of every thread of the channel. It reads complete
 * rows only for the requested page of results. */
#include "platform/threads/internal.h"

#include <stdlib.h>

#include "base/arena.h"
#include "model/permissions/member_permissions.h"
#include "model/fields/rows.h"
#include "model/text/search_words.h"

/* --- schema --------------------------------------------------------------------------- */

struct thread_search_query {
    struct opt_str name, tag_setting, sort_by, sort_order;
    struct list tag; /* snowflakes */
    struct opt_bool archived;
    int64_t slop, limit, offset;
    struct opt_id min_id, max_id;
};

struct thread_search_reply {
    struct list threads, members;
    bool has_more;
    int64_t total_results;
    struct opt_list first_messages; /* only in forums */
};

static const struct enum_choice thread_sort_keys[] = {
    { 0, "last_message_time", "last_message_time", "By their last message" },
    { 0, "creation_time", "creation_time", "By time of creation" },
    { 0, "archive_time", "archive_time", "By time of archiving or unarchiving" },
    { 0, "relevance", "relevance", "Same as last_message_time" },
    { 0 },
};
static const struct enum_choice thread_sort_orders[] = {
    { 0, "desc", "desc", "The newest first" },
    { 0, "asc", "asc", "The oldest first" },
    { 0 },
};
static const struct enum_choice tag_settings[] = {
    { 0, "match_some", "match_some", "One of the tags is enough" },
    { 0, "match_all", "match_all", "All of the tags" },
    { 0 },
};
static const struct type type_searched_name = { .kind = KIND_STRING, .min = 0, .max = 100 };
static const struct type type_searched_tags = { .kind = KIND_ARRAY, .max = 20, .of = &type_id };
static const struct type type_tag_setting = { .kind = KIND_STRING, .choices = tag_settings };
static const struct type type_thread_sort = { .kind = KIND_STRING, .choices = thread_sort_keys };
static const struct type type_thread_order = { .kind = KIND_STRING, .choices = thread_sort_orders };
static const struct type type_search_page = { .kind = KIND_INT, .min = 1, .max = 25 };
static const struct type type_search_offset = { .kind = KIND_INT, .min = 0, .max = 9975 };
static const struct type type_search_slop = { .kind = KIND_INT, .min = 0, .max = 100 };

static const struct field search_fields[] = {
    { FIELD(struct thread_search_query, name), .type = &type_searched_name, .flags = OPTIONAL,
      .doc = "Each word must be a prefix of a word of the thread's name" },
    { FIELD(struct thread_search_query, slop), .type = &type_search_slop, .flags = OPTIONAL,
      .doc = "Accepted, without effect" },
    { FIELD(struct thread_search_query, tag), .type = &type_searched_tags, .flags = OPTIONAL },
    { FIELD(struct thread_search_query, tag_setting), .type = &type_tag_setting,
      .flags = OPTIONAL },
    { FIELD(struct thread_search_query, archived), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Absent: both" },
    { FIELD(struct thread_search_query, sort_by), .type = &type_thread_sort, .flags = OPTIONAL },
    { FIELD(struct thread_search_query, sort_order), .type = &type_thread_order,
      .flags = OPTIONAL },
    { FIELD(struct thread_search_query, limit), .type = &type_search_page, .flags = OPTIONAL,
      .fallback = 25 },
    { FIELD(struct thread_search_query, offset), .type = &type_search_offset, .flags = OPTIONAL },
    { FIELD(struct thread_search_query, min_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Newer than this" },
    { FIELD(struct thread_search_query, max_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Older than this" },
    { 0 },
};
const struct schema thread_search_schema = {
    .name = "ThreadSearchQuery",
    .size = sizeof(struct thread_search_query),
    .fields = search_fields,
    .doc = "Which threads.",
};

static const struct field found_fields[] = {
    { FIELD(struct thread_search_reply, threads), .type = &type_channels },
    { FIELD(struct thread_search_reply, members), .type = &type_thread_members,
      .doc = "The caller's thread members" },
    { FIELD(struct thread_search_reply, has_more), .type = &type_bool },
    { FIELD(struct thread_search_reply, total_results), .type = &type_count },
    { FIELD(struct thread_search_reply, first_messages), .type = &type_messages, .flags = OPTIONAL,
      .doc = "In forums: the first messages of the posts" },
    { 0 },
};
static const struct schema found_schema = {
    .name = "ThreadsFound",
    .size = sizeof(struct thread_search_reply),
    .fields = found_fields,
    .doc = "Threads that a search found.",
};
const struct type thread_search_type = { .kind = KIND_OBJECT, .schema = &found_schema };

/* --- filter --------------------------------------------------------------------------- */

struct thread_candidate {
    snowflake id;
    int64_t key; /* value by which threads are sorted */
};

static const char CANDIDATES[] =
    "select id, type, owner_id, name, thread_archived, thread_archived_at, applied_tags, "
    "coalesce((select max(t.last_message_id) from channel_tails t where t.channel_id = "
    "channels.id), last_message_id, id), case when type = 12 then (select count(*) from "
    "thread_members m where m.thread_id = channels.id and m.user_id = $2) else 0 end "
    "from channels where parent_id = $1 and type between 10 and 12 and id > $3 and id < $4";

/* The filters of a thread search, with words in normalized form. */
struct thread_filter {
    const struct thread_search_query *query;
    uint64_t perms;
    struct list words; /* struct str */
    struct list tags;  /* tag ids (snowflakes) that the forum has */
    struct arena *scratch;
};

/* Returns whether every search word is a prefix of a word of the name. */
static bool thread_name_matches_words(struct thread_filter *t, struct str name)
{
    const struct str *wanted = t->words.items;

    if (!t->words.count)
        return true;
    arena_reset(t->scratch);
    struct list words =
        split_into_search_words(t->scratch, normalize_search_text(t->scratch, name), false);
    const struct str *have = words.items;
    for (size_t i = 0; i < t->words.count; i++) {
        bool found = false;

        for (size_t k = 0; !found && k < words.count; k++)
            found = str_starts_with(have[k], wanted[i]);
        if (!found)
            return false;
    }
    return true;
}

static bool thread_tags_match_query(struct thread_filter *t, const struct rows *r)
{
    const struct list *asked = &t->query->tag;
    const snowflake *wanted = asked->items;
    size_t found = 0;

    if (!asked->count)
        return true;
    if (row_column_is_null(r, 6))
        return false;
    arena_reset(t->scratch);
    const struct list *own = json_column_decode(t->scratch, &type_ids, row_text(r, 6));
    for (size_t i = 0; own && i < asked->count; i++)
        found += id_list_contains(&t->tags, wanted[i]) && id_list_contains(own, wanted[i]);
    return str_is(t->query->tag_setting.value, "match_all") ? found == asked->count : found > 0;
}

static bool thread_candidate_matches(struct thread_filter *t, const struct rows *r)
{
    const struct opt_bool *archived = &t->query->archived;

    if (archived->given == GIVEN && archived->value != (row_int(r, 4) != 0))
        return false;
    return limit_permissions_to_thread(row_int(r, 1), row_int(r, 8) != 0, t->perms) &&
           thread_tags_match_query(t, r) && thread_name_matches_words(t, row_text(r, 3));
}

static int64_t thread_candidate_sort_key(const struct thread_search_query *q, const struct rows *r)
{
    if (str_is(q->sort_by.value, "creation_time"))
        return row_int(r, 0);
    if (str_is(q->sort_by.value, "archive_time"))
        return row_column_is_null(r, 5) ? 0 : row_int(r, 5);
    return row_int(r, 7);
}

static enum err read_thread_candidates(struct call *call, struct thread_filter *t, struct list *ret)
{
    const struct thread_search_query *q = t->query;
    bool bounded = q->max_id.given == GIVEN && q->max_id.value < INT64_MAX;
    snowflake above = q->min_id.value < INT64_MAX ? q->min_id.value : INT64_MAX,
              below = bounded ? q->max_id.value : INT64_MAX;
    struct rows rows;
    enum err e = tx_query(
        call->tx, CANDIDATES,
        BIND(v_id(call->target.channel->id), v_id(call->caller->id), v_id(above), v_id(below)),
        &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        if (!thread_candidate_matches(t, &rows))
            continue;
        *(struct thread_candidate *)list_append(call->arena, ret, sizeof(struct thread_candidate)) =
            (struct thread_candidate){ row_id(&rows, 0), thread_candidate_sort_key(q, &rows) };
    }
    return rows_end(&rows);
}

static int compare_thread_candidates(const void *a, const void *b)
{
    const struct thread_candidate *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* --- the page ------------------------------------------------------------------------- */

static enum err add_found_thread(struct call *call, snowflake id, struct thread_search_reply *out)
{
    struct channel *c = list_append(call->arena, &out->threads, sizeof *c);
    struct message first;
    enum err e = channel_find(call->tx, id, c);

    if (!e)
        e = thread_read_membership_of_user(call->tx, call->caller->id, c);
    if (e)
        return e;
    if (c->member)
        *(struct thread_member *)list_append(call->arena, &out->members,
                                             sizeof(struct thread_member)) = *c->member;
    c->member = NULL;
    if (out->first_messages.given != GIVEN)
        return OK;
    e = message_find(call, id, id, &first);
    if (!e)
        *(struct message *)list_append(call->arena, &out->first_messages.value, sizeof first) =
            first;
    return e == ERR_UNKNOWN_MESSAGE ? OK
                                    : e; /* not an error: the first message may have been deleted */
}

static enum err reply_with_found_threads(struct call *call, const struct list *found)
{
    const struct thread_search_query *q = call->query;
    const struct thread_candidate *all = found->items;
    bool oldest = str_is(q->sort_order.value, "asc");
    size_t end = (size_t)(q->offset + q->limit) < found->count ? (size_t)(q->offset + q->limit)
                                                               : found->count;
    struct thread_search_reply out = { .has_more = end < found->count,
                                       .total_results = (int64_t)found->count };
    enum err e = OK;

    if (channel_is_forum_or_media(call->target.channel->type))
        out.first_messages.given = GIVEN;
    for (size_t i = (size_t)q->offset; !e && i < end; i++)
        e = add_found_thread(call, all[oldest ? i : found->count - 1 - i].id, &out);
    if (!e)
        e = call_reply_with_object(call, &out);
    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

static void list_queried_tags_of_forum(struct call *call, struct thread_filter *t)
{
    const struct list *all = &call->target.channel->available_tags.value;
    const struct forum_tag *tags = all->items;

    for (size_t i = 0; i < all->count; i++)
        if (id_list_contains(&t->query->tag, tags[i].id))
            id_list_add(call->arena, &t->tags, tags[i].id);
}

/* GET /channels/{channel.id}/threads/search */
enum err search_threads(struct call *call)
{
    const struct thread_search_query *q = call->query;
    struct thread_filter t = { .query = q, .perms = call->target.permissions };
    struct list found = { 0 };
    enum err e = check_channel_can_have_threads(call->target.channel);

    if (!e)
        e = call_require_permissions(call, PERMISSION(READ_MESSAGE_HISTORY));
    if (e)
        return e;
    t.words = split_into_search_words(call->arena,
                                      normalize_search_text(call->arena, q->name.value), true);
    list_queried_tags_of_forum(call, &t);
    t.scratch = arena_new();
    e = read_thread_candidates(call, &t, &found);
    arena_free(t.scratch);
    if (e)
        return e;
    if (found.count)
        qsort(found.items, found.count, sizeof(struct thread_candidate), compare_thread_candidates);
    return reply_with_found_threads(call, &found);
}
