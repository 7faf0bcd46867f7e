/* telling.c - sends the rows of a member list as GUILD_MEMBER_LIST_UPDATE.
 *
 * The rows of a window are encoded once for all its sessions: all rows for new subscriptions,
 * and the changed ranges for the others. */
#include <string.h>

#include "base/mem.h"
#include "gateway/member_lists/rosters.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/news.h"
#include "gateway/wire/protocol.h"
#include "model/member.h"

enum { TOLD_AT_ONCE = 32 }; /* sessions per task of a round */

enum report_kind { REPORT_CHANGES, REPORT_ALL, REPORT_KINDS };

struct report_row {
    uint32_t group;
    snowflake user_id; /* 0: the group's header row */
};

struct list_report {
    struct list_face *face;
    struct order_group groups[LIST_GROUPS];
    size_t group_count;
    int64_t member_count, online_count;
    uint64_t digests[LIST_RANGES];
    unsigned changed; /* one bit per changed range */
    bool wanted[REPORT_KINDS], made[REPORT_KINDS];
    struct news *news[REPORT_KINDS]; /* NULL: encoding failed */

    /* State of the payload that is being encoded. */
    enum report_kind making;
    struct report_row rows[LIST_RANGES][LIST_ROWS];
    size_t row_count[LIST_RANGES];
    snowflake ids[LIST_RANGES * LIST_ROWS];
    size_t id_count;
    struct list members; /* struct member, in the arena of the store read */
    struct str payload;  /* in the arena of the store read */
};

static struct list_face *face_untold(const struct roster *r)
{
    for (struct link *at = r->lists.next; at != &r->lists; at = at->next) {
        const struct shown_list *l = container_of(at, struct shown_list, link);

        for (struct link *f = l->faces.next; f != &l->faces; f = f->next) {
            struct list_face *face = container_of(f, struct list_face, link);

            if (face->round != r->round)
                return face;
        }
    }
    return NULL;
}

static void report_count(struct list_report *p, const struct roster *r)
{
    const struct shown_list *l = p->face->list;
    bool all = str_is(str_of(l->id), "everyone");

    /* In a large guild only online members are in memory. */
    p->member_count = all ? roster_view(r)->member_count : (int64_t)l->order.count;
    for (size_t i = 0; i < p->group_count; i++)
        if (p->groups[i].rank <= r->rank_count)
            p->online_count += (int64_t)p->groups[i].count;
}

static void report_compare(struct list_report *p, const struct roster *r)
{
    struct list_face *f = p->face;

    for (uint32_t i = 0; i < f->count; i++) {
        p->digests[i] = order_digest(&f->list->order, p->groups, p->group_count, f->ranges[i].first,
                                     f->ranges[i].last);
        if (!r->quick && p->digests[i] != f->told[i])
            p->changed |= 1U << i;
    }
    p->wanted[REPORT_ALL] = f->fresh_count > 0;
    p->wanted[REPORT_CHANGES] = p->changed && f->fresh_count < f->subscription_count;
}

static struct list_report *report_new(const struct roster *r, struct list_face *f)
{
    struct list_report *p = mem_new(sizeof *p);

    p->face = f;
    p->group_count = order_groups(&f->list->order, p->groups, LIST_GROUPS);
    report_count(p, r);
    report_compare(p, r);
    return p;
}

void lists_tell_drop(struct roster *r)
{
    if (!r->report)
        return;
    news_unref(r->report->news[0]);
    news_unref(r->report->news[1]);
    mem_free(r->report);
    r->report = NULL;
}

static bool report_has(const struct list_report *p, uint32_t range)
{
    return p->making == REPORT_ALL || p->changed & 1U << range;
}

static void list_rows(struct list_report *p, uint32_t range)
{
    const struct list_range *at = &p->face->ranges[range];
    size_t n = 0;

    for (size_t row = at->first; row <= at->last; row++) {
        struct list_row found = order_row_at(&p->face->list->order, p->groups, p->group_count, row);

        if (!found.group)
            break;
        p->rows[range][n++] = (struct report_row){ (uint32_t)(found.group - p->groups),
                                                   found.member ? found.member->user_id : 0 };
        if (found.member)
            p->ids[p->id_count++] = found.member->user_id;
    }
    p->row_count[range] = n;
}

static void write_group(const struct list_report *p, const struct order_group *g, struct json *j)
{
    const struct roster *r = p->face->list->roster;

    json_object(j);
    json_name(j, "id");
    if (g->rank < r->rank_count)
        json_id(j, r->ranks[g->rank]);
    else
        json_text(j, g->rank == r->rank_count ? STR("online") : STR("offline"));
    json_name(j, "count");
    json_int(j, (int64_t)g->count);
    json_object_end(j);
}

static const struct member *find_member(const struct list_report *p, snowflake user_id)
{
    const struct member *m = p->members.items;

    for (size_t i = 0; i < p->members.count; i++)
        if (m[i].user_id == user_id)
            return &m[i];
    return NULL;
}

static bool show_all_fields(const void *arg, struct str name)
{
    (void)arg, (void)name;
    return true;
}

static void write_listed(const struct list_report *p, const struct member *m, struct json *j)
{
    json_object(j);
    /* User clients read the member's id at this level instead of in "user". */
    json_name(j, "id");
    json_id(j, m->user_id);
    schema_encode_some(j, &member_schema, m, show_all_fields, NULL);
    json_name(j, "presence");
    gateway_presence(p->face->list->roster->hub->gateway, m->user_id, j);
    json_object_end(j);
}

/* Skips a member who has left since the rows were selected; the next round removes it. */
static void write_row(const struct list_report *p, const struct report_row *row, struct json *j)
{
    const struct member *m = row->user_id ? find_member(p, row->user_id) : NULL;

    if (row->user_id && !m)
        return;
    json_object(j);
    if (m) {
        json_name(j, "member");
        write_listed(p, m, j);
    } else {
        json_name(j, "group");
        write_group(p, &p->groups[row->group], j);
    }
    json_object_end(j);
}

static void write_sync(const struct list_report *p, uint32_t range, struct json *j)
{
    json_object(j);
    json_name(j, "op");
    json_text(j, STR("SYNC"));
    json_name(j, "range");
    json_array(j);
    json_int(j, p->face->ranges[range].first);
    json_int(j, p->face->ranges[range].last);
    json_array_end(j);
    json_name(j, "items");
    json_array(j);
    for (size_t i = 0; i < p->row_count[range]; i++)
        write_row(p, &p->rows[range][i], j);
    json_array_end(j);
    json_object_end(j);
}

static void write_report(const struct list_report *p, struct json *j)
{
    const struct shown_list *l = p->face->list;

    json_object(j);
    json_name(j, "guild_id");
    json_id(j, l->roster->guild_id);
    json_name(j, "id");
    json_text(j, str_of(l->id));
    json_name(j, "member_count");
    json_int(j, p->member_count);
    json_name(j, "online_count");
    json_int(j, p->online_count);
    json_name(j, "groups");
    json_array(j);
    for (size_t i = 0; i < p->group_count; i++)
        write_group(p, &p->groups[i], j);
    json_array_end(j);
    json_name(j, "ops");
    json_array(j);
    for (uint32_t i = 0; i < p->face->count; i++)
        if (report_has(p, i))
            write_sync(p, i, j);
    json_array_end(j);
    json_object_end(j);
}

/* Runs in the background: the roster does not change before the round continues. */
static enum err read_report(struct load *load, struct tx *tx)
{
    struct roster *r = container_of(load, struct roster, load);
    struct list_report *p = r->report;
    struct gateway_search search = { .guild_id = r->guild_id, .user_ids = { p->ids, p->id_count } };
    struct buf out;
    struct json j = json_to(&out);
    enum err e = OK;

    p->members = (struct list){ 0 };
    if (p->id_count)
        e = load->hub->gateway->options.source->members(tx, &search, &p->members);
    if (e)
        return e;
    buf_init(&out, MAX_PAYLOAD);
    write_report(p, &j);
    p->payload = buf_take(&out, tx_arena(tx));
    buf_clear(&out);
    return OK;
}

static void report_read(struct load *load, enum err e)
{
    struct roster *r = container_of(load, struct roster, load);
    struct list_report *p = r->report;

    p->made[p->making] = true;
    if (!e)
        p->news[p->making] =
            news_new(EVENT_GUILD_MEMBER_LIST_UPDATE, to_guild(r->guild_id), p->payload);
    roster_continue(r);
}

static void report_make(struct roster *r, enum report_kind kind)
{
    struct list_report *p = r->report;

    p->making = kind;
    p->id_count = 0;
    for (uint32_t i = 0; i < p->face->count; i++)
        if (report_has(p, i))
            list_rows(p, i);
    r->load = (struct load){ .aside = true, .run = read_report, .done = report_read };
    hub_load_now(r->hub, &r->load);
}

/* A session that is disconnected or has unsent events gets all rows later, because the current
 * rows will be outdated then. */
static void tell_subscription(struct roster *r, struct list_subscription *u)
{
    enum report_kind kind = u->fresh ? REPORT_ALL : REPORT_CHANGES;
    struct news *n = r->report->news[kind];

    if (!r->report->wanted[kind])
        return;
    if (!subscription_may_enter(u)) {
        subscription_free(u);
        return;
    }
    subscription_set_fresh(u, !n || !u->session->peer || session_is_busy(u->session));
    if (u->fresh) {
        r->wants.owes = true;
        return;
    }
    r->told_bytes += (int64_t)news_payload(n).n;
    session_dispatch(u->session, n, 0);
}

/* Sends rows to some subscriptions and moves these to the end of the list, after new ones.
 * Returns false when all are handled. */
static bool tell_some(struct roster *r)
{
    struct list_face *f = r->report->face;

    for (int i = 0; i < TOLD_AT_ONCE && !links_empty(&f->subscriptions); i++) {
        struct list_subscription *u =
            container_of(f->subscriptions.next, struct list_subscription, of_face);

        if (u->round == r->round)
            return false;
        u->round = r->round;
        link_remove(&u->of_face);
        links_append(&f->subscriptions, &u->of_face);
        tell_subscription(r, u);
    }
    return !links_empty(&f->subscriptions);
}

/* A quick round sends rows only to new subscriptions, so the stored hashes remain valid for the
 * others; new ones may get the same rows twice. */
static void face_finish(struct roster *r)
{
    struct list_report *p = r->report;

    p->face->round = r->round;
    if (!r->quick || !p->face->told[0])
        memcpy(p->face->told, p->digests, sizeof p->face->told);
    lists_tell_drop(r);
}

bool lists_tell(struct roster *r)
{
    if (!r->report) {
        struct list_face *f = face_untold(r);

        if (!f)
            return false;
        r->report = report_new(r, f);
    }
    struct list_report *p = r->report;
    for (enum report_kind k = 0; k < REPORT_KINDS; k++)
        if (p->wanted[k] && !p->made[k]) {
            report_make(r, k);
            return true;
        }
    bool nobody = !p->wanted[REPORT_ALL] && !p->wanted[REPORT_CHANGES];
    if (nobody || !tell_some(r))
        face_finish(r);
    roster_continue(r);
    return true;
}
