/* prune.c - removes inactive members from a guild. A member is active if the member joined, used a
 * token or wrote a message after the cutoff time. A guild may have 500,000 members, so a read
 * transaction counts the members, and steps remove them: the first step in the call, the others in
 * a job. Each step reads a limited number of members, removed or not, so that its write transaction
 * takes only a few milliseconds. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "gateway/gateway.h"
#include "model/fields/ids.h"
#include "platform/members/internal.h"

enum {
    USUAL_DAYS = 7,
    MOST_DAYS = 30,
    MOST_INCLUDED = 100,
    MEMBERS_PER_STEP = 500, /* maximum per step; fewer if the request names many roles */
    ROLE_COMPARISONS_PER_MEMBER = 300,
    REMOVALS_PER_STEP = 15,
};
static const int64_t PRUNE_DAY_US = INT64_C(86400) * 1000 * 1000;

struct prune_request {
    int64_t days;
    struct list include_roles; /* snowflakes */
    bool compute_prune_count;
};
struct prune_result {
    struct opt_int pruned;
};

static const struct type type_days = { .kind = KIND_INT, .min = 1, .max = MOST_DAYS };
/* A boolean, or the text "true" or "false", which discord.py sends. */
static const struct type type_said = { .kind = KIND_BOOL, .flags = TYPE_EITHER };
static const struct type type_included = {
    .kind = KIND_ARRAY, .flags = TYPE_EITHER, .of = &type_id, .max = MOST_INCLUDED
};

static const struct field query_fields[] = {
    { FIELD(struct prune_request, days), .type = &type_days, .flags = OPTIONAL,
      .fallback = USUAL_DAYS },
    { FIELD(struct prune_request, include_roles), .type = &type_included, .flags = OPTIONAL,
      .doc = "Members who have only these roles are removed as well" },
    { 0 },
};
const struct schema prune_query = {
    .name = "PruneQuery",
    .size = sizeof(struct prune_request),
    .fields = query_fields,
    .doc = "Selects inactive members.",
};
static const struct field body_fields[] = {
    { FIELD(struct prune_request, days), .type = &type_days, .flags = OPTIONAL | NULLABLE,
      .fallback = USUAL_DAYS },
    { FIELD(struct prune_request, include_roles), .type = &type_included,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Members who have only these roles are removed as well" },
    { FIELD(struct prune_request, compute_prune_count), .type = &type_said,
      .flags = OPTIONAL | NULLABLE, .fallback = true },
    { 0 },
};
static const struct schema body_schema = {
    .name = "Prune",
    .size = sizeof(struct prune_request),
    .fields = body_fields,
    .doc = "Selects inactive members.",
};
const struct type prune_body = { .kind = KIND_OBJECT, .schema = &body_schema };
static const struct field result_fields[] = {
    { FIELD(struct prune_result, pruned), .type = &type_count, .flags = NULLABLE },
    { 0 },
};
static const struct schema result_schema = {
    .name = "PruneResult",
    .size = sizeof(struct prune_result),
    .fields = result_fields,
    .doc = "Number of members.",
};
const struct type prune_reply = { .kind = KIND_OBJECT, .schema = &result_schema };

/* The members to remove, and the progress of the removal. */
struct prune_progress {
    snowflake guild_id, owner_id, caller_id, after;
    int64_t cutoff;   /* time in microseconds; members who were active after it remain */
    int64_t rank;     /* members with a role at or above this position remain */
    struct str roles; /* role ids as text, such as ",1,2,"; members who have other roles remain */
};

static struct str format_role_filter(struct arena *arena, const struct list *ids)
{
    struct str text = STR(",");

    for (size_t i = 0; i < ids->count; i++)
        text = str_printf(arena, "%.*s%llu,", STR_ARGS(text),
                          (unsigned long long)((const snowflake *)ids->items)[i]);
    return text;
}

static struct prune_progress prune_progress_from_request(const struct call *call,
                                                         const struct prune_request *in)
{
    const struct member_access *s = call->target.member_access;

    return (struct prune_progress){
        .guild_id = s->guild_id,
        .owner_id = s->owner_id,
        .caller_id = s->user_id,
        .cutoff = clock_us() - in->days * PRUNE_DAY_US,
        .rank = s->input.owner ? INT64_MAX : s->top_position,
        .roles = format_role_filter(call->arena, &in->include_roles),
    };
}

/* --- selecting inactive members ------------------------------------------------------ */

#define MEMBER_RANGE(after_, limit_)                                                        \
    "(select user_id, joined_at from members where guild_id = $1 and user_id > " after_ " " \
    "order by user_id limit " limit_ ") m"
/* SQL condition: member m (account u) may be removed and has not been active since time $2. */
#define IS_INACTIVE                                                                      \
    "m.joined_at < $2 and u.bot = 0 and m.user_id <> $3 and m.user_id <> $4 "            \
    "and not exists (select 1 from tokens t where t.user_id = m.user_id and "            \
    "(t.created_at >= $2 or t.last_used_at >= $2)) "                                     \
    "and not exists (select 1 from message_authors x where x.author_id = m.user_id and " \
    "x.message_id >= $5) "                                                               \
    "and m.user_id not in (select author_id from unfiled_messages where id >= $5) "      \
    "and not exists (select 1 from member_roles h join roles r on r.id = h.role_id "     \
    "where h.guild_id = $1 and h.user_id = m.user_id and (r.position >= $7 or "          \
    "cast($6 as text) not like '%,' || h.role_id || ',%'))"
static const char CANDIDATES[] = "select m.user_id from " MEMBER_RANGE(
    "$8", "$9") " join users u on u.id = m.user_id where " IS_INACTIVE " order by m.user_id";
/* Selects all members who may be removed. The query must not sort or buffer its rows, because it
 * reads up to 500,000 members. */
static const char ALL_CANDIDATES[] =
    "select m.user_id from members m cross join users u where m.guild_id = $1 and "
    "u.id = m.user_id and " IS_INACTIVE;
static const char END_OF_RANGE[] = "select max(m.user_id) from " MEMBER_RANGE("$2", "$3");

#define BIND_IS_INACTIVE(p_)                                                                \
    v_id((p_)->guild_id), v_int((p_)->cutoff), v_id((p_)->owner_id), v_id((p_)->caller_id), \
        v_id(snowflake_from_ms((p_)->cutoff / 1000)), v_text((p_)->roles), v_int((p_)->rank)

static bool member_is_connected(struct call *call, snowflake user_id)
{
    struct gateway *gateway = api_get_options(call->api)->gateway;

    return gateway && gateway_get_account_status(gateway, user_id, NULL);
}

static enum err count_inactive_members(struct call *call, const struct prune_progress *p,
                                       int64_t *ret)
{
    struct list ids = { 0 };
    enum err e = tx_read_ids(call->tx, ALL_CANDIDATES, BIND(BIND_IS_INACTIVE(p)), &ids);

    *ret = 0;
    for (size_t i = 0; !e && i < ids.count; i++)
        *ret += !member_is_connected(call, ((const snowflake *)ids.items)[i]);
    return e;
}

/* --- removing inactive members ------------------------------------------------------- */

static enum err schedule_next_guild_prune_step(struct call *call, const struct prune_progress *p)
{
    struct str data = str_printf(call->arena, "%llu %llu %llu %llu %lld %lld %.*s",
                                 (unsigned long long)p->guild_id, (unsigned long long)p->owner_id,
                                 (unsigned long long)p->caller_id, (unsigned long long)p->after,
                                 (long long)p->cutoff, (long long)p->rank, STR_ARGS(p->roles));

    return job_schedule(call, &member_prune_job, snowflake_new(), clock_us(), data);
}

/* Returns the number of members that a step reads. Each role of a member is compared with each role
 * in the request, up to 100 × 100 comparisons per member. So a request with many roles has smaller
 * steps. */
static int64_t count_members_per_prune_step(const struct prune_progress *p)
{
    int64_t named = -1;

    for (size_t i = 0; i < p->roles.n; i++)
        named += p->roles.p[i] == ',';
    return MEMBERS_PER_STEP / (1 + named * named / ROLE_COMPARISONS_PER_MEMBER);
}

/* *ret is the last user id of the range of members that this step checks; 0 if no members are
 * left. */
static enum err find_end_of_prune_range(struct call *call, const struct prune_progress *p,
                                        snowflake *ret)
{
    return tx_read_id(
        call->tx, END_OF_RANGE,
        BIND(v_id(p->guild_id), v_id(p->after), v_int(count_members_per_prune_step(p))), ret);
}

/* Reads the end of the range before removing members: END_OF_RANGE counts members, so afterwards it
 * would return a later end. */
static enum err prune_next_member_range(struct call *call, struct prune_progress *p)
{
    struct list ids = { 0 };
    snowflake end = 0;
    size_t removed = 0;
    enum err e = find_end_of_prune_range(call, p, &end);

    if (!e && end)
        e = tx_read_ids(
            call->tx, CANDIDATES,
            BIND(BIND_IS_INACTIVE(p), v_id(p->after), v_int(count_members_per_prune_step(p))),
            &ids);
    for (size_t i = 0; !e && i < ids.count; i++) {
        snowflake id = ((const snowflake *)ids.items)[i];

        if (removed == REMOVALS_PER_STEP)
            return schedule_next_guild_prune_step(call, p);
        if (!member_is_connected(call, id)) {
            e = member_remove_from_guild(call, p->guild_id, id);
            removed++;
        }
        p->after = id;
    }
    if (e || !end)
        return e;
    p->after = end;
    return schedule_next_guild_prune_step(call, p);
}

static bool parse_prune_number(struct str *data, int64_t *ret)
{
    return str_to_i64(str_cut(data, ' '), ret);
}

static enum err run_prune_job(struct call *call, const struct job *job)
{
    struct str rest = job->data;
    int64_t guild, owner, caller, after;
    struct prune_progress p;

    if (!parse_prune_number(&rest, &guild) || !parse_prune_number(&rest, &owner) ||
        !parse_prune_number(&rest, &caller) || !parse_prune_number(&rest, &after) ||
        !parse_prune_number(&rest, &p.cutoff) || !parse_prune_number(&rest, &p.rank))
        return OK;
    p.guild_id = (snowflake)guild;
    p.owner_id = (snowflake)owner;
    p.caller_id = (snowflake)caller;
    p.after = (snowflake)after;
    p.roles = rest;
    return prune_next_member_range(call, &p);
}

const struct job_kind member_prune_job = {
    .name = "member-prune",
    .doc = "Removes inactive members from a guild.",
    .run = run_prune_job,
};

const struct rate_limit limit_prune_count = {
    .name = "prune-count", .count = 5, .window_s = 10, .shared = true
};
static const struct rate_limit limit_prune = { .name = "prune", .count = 2, .window_s = 60 };

enum err check_prune_permission(struct call *call)
{
    bool strict = guild_has_feature(call->target.guild, "PRUNE_REQUIRES_ADMIN");

    return strict && !(call->target.permissions & PERMISSION(ADMINISTRATOR))
               ? call_get_missing_permissions_error(call, PERMISSION(ADMINISTRATOR))
               : OK;
}

enum err get_prune_count(struct call *call)
{
    struct prune_progress p = prune_progress_from_request(call, call->query);
    struct prune_result out = { .pruned = { .given = GIVEN } };
    enum err e = count_inactive_members(call, &p, &out.pruned.value);

    return e ? e : call_reply_with_object(call, &out);
}

/* Counts the request towards the guild's rate limit after the permission check. So callers without
 * the permission cannot use up the limit. */
static enum err count_prune_request_and_inactive_members(struct call *call)
{
    struct prune_progress p = prune_progress_from_request(call, call->body);
    struct str key = str_printf(call->arena, "%llu", (unsigned long long)p.guild_id);

    struct prune_result *found = call_get_stage_data(call, "prune_result");

    if (call_count_against_rate_limit(call, &limit_prune, key))
        return ERR_MAX_PRUNES;
    return count_inactive_members(call, &p, &found->pruned.value);
}

enum err schedule_counting_of_members_to_prune(struct call *call)
{
    call_store_stage_data(call, "prune_result", sizeof(struct prune_result));
    call->read = count_prune_request_and_inactive_members;
    return OK;
}

enum err begin_guild_prune(struct call *call)
{
    const struct prune_request *in = call->body;
    struct prune_result *out = call_get_stage_data(call, "prune_result");
    struct prune_progress p = prune_progress_from_request(call, in);
    struct audit_log_options options = {
        .delete_member_days = opt_str_or_null(str_printf(call->arena, "%lld", (long long)in->days)),
        .members_removed =
            opt_str_or_null(str_printf(call->arena, "%lld", (long long)out->pruned.value)),
    };
    enum err e = prune_next_member_range(call, &p);

    if (!e)
        e = audit_log_record_changes(call, p.guild_id, AUDIT_MEMBER_PRUNE, 0, &options,
                                     (struct list){ 0 });
    out->pruned.given = in->compute_prune_count ? GIVEN : GIVEN_NULL;
    return e ? e : call_reply_with_object(call, out);
}
