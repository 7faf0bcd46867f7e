/* recipients.c - selects the recipients of a push message about a message; writes its text. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "json/write.h"
#include "model/fields/rows.h"
#include "platform/accounts/settings/settings.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/guild_settings/guild_settings.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/web_push/internal.h"

enum { MOST_CONTENT_BYTES = 600 };

struct push_candidate {
    snowflake user_id;
    bool may_concern; /* false for non-members, and for accounts that block or ignore the author */
};

/* --- candidates ----------------------------------------------------------------------- */

/* Selects subscribed recipients of a private channel who do not block or ignore the author. */
static const char IN_PRIVATE_CHANNEL[] =
    "select c.user_id, 1 from recipients c where c.channel_id = $1 and c.user_id > $2 and "
    "c.user_id <> $3 and exists (select 1 from web_push_subscriptions s where "
    "s.user_id = c.user_id) and not exists (select 1 from relationships r where "
    "r.user_id = c.user_id and r.target_id = $3 and (r.type = 2 or r.ignored = 1)) "
    "order by c.user_id limit $4";
/* Selects accounts with a subscription that the message mentions by name. mention_notes has no rows
 * for accounts that block or ignore the author. */
static const char MENTIONED_BY_NAME[] =
    "select n.target_id, 1 from mention_notes n where n.channel_id = $1 and n.message_id = $5 and "
    "n.kind = 2 and n.target_id > $2 and n.target_id <> $3 and exists (select 1 from "
    "web_push_subscriptions s where s.user_id = n.target_id) order by n.target_id limit $4";
/* Selects all accounts with a subscription. The second column is 1 if the account is another member
 * who does not block or ignore the author. */
static const char SUBSCRIBED[] =
    "select x.user_id, case when x.user_id <> $3 and exists (select 1 from members m where "
    "m.guild_id = $1 and m.user_id = x.user_id) and not exists (select 1 from relationships r "
    "where r.user_id = x.user_id and r.target_id = $3 and (r.type = 2 or r.ignored = 1)) "
    "then 1 else 0 end from (select distinct user_id from web_push_subscriptions where "
    "user_id > $2 order by user_id limit $4) x order by x.user_id";

static void web_push_candidate_from_row(const struct rows *r, void *ret)
{
    *(struct push_candidate *)ret = (struct push_candidate){ row_id(r, 0), row_int(r, 1) > 0 };
}

static enum err read_web_push_candidates(struct call *call, const struct web_push_job_step *step,
                                         const struct channel *c, const struct message *m,
                                         struct list *ret)
{
    enum { SIZE = sizeof(struct push_candidate) };
    snowflake author = m->author->id;

    *ret = (struct list){ 0 };
    if (step->phase == PUSH_TO_GROUPS)
        return tx_read_list(call->tx, SUBSCRIBED,
                            BIND(v_id(c->guild_id.value), v_id(step->after), v_id(author),
                                 v_int(PUSH_STEP_SCANNED)),
                            SIZE, web_push_candidate_from_row, ret);
    if (channel_is_private(c->type))
        return tx_read_list(
            call->tx, IN_PRIVATE_CHANNEL,
            BIND(v_id(c->id), v_id(step->after), v_id(author), v_int(PUSH_STEP_ACCOUNTS)), SIZE,
            web_push_candidate_from_row, ret);
    return tx_read_list(
        call->tx, MENTIONED_BY_NAME,
        BIND(v_id(c->id), v_id(step->after), v_id(author), v_int(PUSH_STEP_ACCOUNTS), v_id(m->id)),
        SIZE, web_push_candidate_from_row, ret);
}

/* --- rules ---------------------------------------------------------------------------- */

static bool id_lists_have_common_id(const struct list *a, const struct list *b)
{
    const snowflake *x = a->items, *y = b->items;

    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (x[i] == y[j])
                return true;
    return false;
}

static bool message_mentions_user_by_name(const struct message *m, snowflake user_id)
{
    const struct mentioned_user *people = m->mentions.items;

    for (size_t i = 0; i < m->mentions.count; i++)
        if (people[i].user.id == user_id)
            return true;
    return false;
}

/* Returns whether the message mentions @everyone. @here is ignored: it is for users who are online,
 * and their page notifies them. */
static bool message_mentions_everyone(const struct message *m)
{
    return m->mention_everyone && memmem(m->content.p, m->content.n, "@everyone", 9) != NULL;
}

static bool group_mention_concerns_member(const struct message *m, const struct member *member,
                                          const struct channel_notification_settings *choice)
{
    return (message_mentions_everyone(m) && !choice->suppress_everyone) ||
           (!choice->suppress_roles && id_lists_have_common_id(&m->mention_roles, &member->roles));
}

static enum err account_accepts_notifications(struct call *call, snowflake user_id, bool *ret)
{
    struct user_settings s;
    struct user user;
    enum err e = user_find(call->tx, user_id, &user);

    *ret = !e && !user.disabled && !user.deleting;
    if (!e)
        e = user_settings_find(call->tx, user_id, &s);
    if (!e && s.status.given == GIVEN && str_is(s.status.value, "dnd"))
        *ret = false;
    return e == ERR_UNKNOWN_USER ? OK : e;
}

static enum err member_may_be_notified(struct call *call, const struct channel *c,
                                       const struct message *m, enum web_push_recipient_phase phase,
                                       const struct channel_notification_settings *choice,
                                       snowflake user_id, bool *ret)
{
    struct member_access s;
    uint64_t all = 0;
    enum err e = member_access_find_of_other_user(call->tx, c->guild_id.value, user_id, &s);

    if (!e)
        e = member_permissions_in_channel(call->tx, &s, c, &all);
    *ret = !e && (all & PERMISSION(VIEW_CHANNEL)) &&
           (phase == PUSH_TO_NAMED || group_mention_concerns_member(m, s.member, choice));
    return e == ERR_UNKNOWN_MEMBER || e == ERR_UNKNOWN_GUILD || e == ERR_UNKNOWN_CHANNEL ? OK : e;
}

/* Returns whether the account wants a notification of the message now, and may see it. */
static enum err account_is_notified(struct call *call, const struct web_push_job_step *step,
                                    const struct channel *c, const struct message *m,
                                    snowflake user_id, bool *ret)
{
    struct channel_notification_settings choice;

    *ret = false;
    if (step->phase == PUSH_TO_GROUPS && message_mentions_user_by_name(m, user_id))
        return OK; /* the phase before has sent it */
    enum err e = account_accepts_notifications(call, user_id, ret);
    if (!e && *ret)
        e = channel_notification_settings_find(call->tx, user_id, c, &choice);
    if (e || !*ret)
        return e;
    *ret = !choice.none;
    if (*ret && !channel_is_private(c->type))
        e = member_may_be_notified(call, c, m, step->phase, &choice, user_id, ret);
    return e;
}

/* --- subscriptions -------------------------------------------------------------------- */

static const char SUBSCRIPTIONS_OF[] =
    "select s.token_id, s.user_id, s.endpoint, s.receiver_key, s.auth_secret, s.failures from "
    "web_push_subscriptions s join tokens t on t.id = s.token_id where s.user_id = $1 and "
    "(t.expires_at is null or t.expires_at > $2) order by s.token_id";

static void copy_bytes(struct str from, unsigned char *to, size_t n)
{
    if (from.n == n)
        memcpy(to, from.p, n);
}

static enum err append_subscriptions_of_account(struct call *call, snowflake user_id,
                                                struct list *ret)
{
    struct rows rows;
    enum err e =
        tx_query(call->tx, SUBSCRIPTIONS_OF, BIND(v_id(user_id), v_int(clock_us())), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct web_push_subscription *s = list_append(call->arena, ret, sizeof *s);

        s->user_id = row_id(&rows, 1);
        s->endpoint = str_dup(call->arena, row_text(&rows, 2));
        s->failures = row_int(&rows, 5);
        copy_bytes(row_bytes(&rows, 0), s->token_id, sizeof s->token_id);
        copy_bytes(row_bytes(&rows, 3), s->receiver.point, sizeof s->receiver.point);
        copy_bytes(row_bytes(&rows, 4), s->receiver.auth, sizeof s->receiver.auth);
    }
    return rows_end(&rows);
}

/* --- text ----------------------------------------------------------------------------- */

static struct str displayed_name_of_author(const struct user *u)
{
    return u->global_name.given == GIVEN ? u->global_name.value : u->username;
}

static void append_mention(struct buf *out, const struct message *m, struct str inside)
{
    const struct mentioned_user *people = m->mentions.items;
    snowflake id = 0;

    str_to_u64(str_skip_bytes(inside, inside.n > 1 && inside.p[1] == '!' ? 2 : 1), &id);
    buf_add_char(out, '@');
    for (size_t i = 0; i < m->mentions.count; i++)
        if (people[i].user.id == id)
            buf_add_str(out, displayed_name_of_author(&people[i].user));
}

/* Appends the name that a notification shows for a mention or emoji. `inside` is the text between <
 * and >. Returns false if it is neither. */
static bool append_name_of_mention_or_emoji(struct buf *out, const struct message *m,
                                            struct str inside)
{
    if (str_starts_with(inside, STR("@"))) {
        append_mention(out, m, inside);
    } else if (str_starts_with(inside, STR("#"))) {
        buf_add_char(out, '#');
    } else if (str_starts_with(inside, STR(":")) || str_starts_with(inside, STR("a:"))) {
        str_cut(&inside, ':');
        buf_add_char(out, ':');
        buf_add_str(out, str_cut(&inside, ':'));
        buf_add_char(out, ':');
    } else {
        return false;
    }
    return true;
}

/* Returns the beginning of a message with names instead of ids, and without spoilers. */
static struct str notification_text(struct arena *a, const struct message *m)
{
    struct str rest = m->content;
    struct buf out;

    buf_init(&out, (size_t)64 * 1024);
    while (rest.n && out.n < MOST_CONTENT_BYTES) {
        const char *end = rest.p[0] == '<' ? memchr(rest.p, '>', rest.n) : NULL;
        const char *spoiler =
            str_starts_with(rest, STR("||")) ? memmem(rest.p + 2, rest.n - 2, "||", 2) : NULL;

        if (spoiler) {
            buf_add_lit(&out, "▇▇▇");
            rest = str_skip_bytes(rest, (size_t)(spoiler - rest.p) + 2);
        } else if (end && append_name_of_mention_or_emoji(
                              &out, m, str_slice(rest.p + 1, (size_t)(end - rest.p) - 1))) {
            rest = str_skip_bytes(rest, (size_t)(end - rest.p) + 1);
        } else {
            buf_add_char(&out, rest.p[0]);
            rest = str_skip_bytes(rest, 1);
        }
    }
    struct str text = buf_move_to_arena(&out, a);

    if (text.n > MOST_CONTENT_BYTES)
        text.n = MOST_CONTENT_BYTES;
    return utf8_drop_incomplete_last_character(text);
}

static void write_optional_text(struct json_writer *j, const char *name, struct str value)
{
    json_write_key(j, str_of(name));
    if (value.p)
        json_write_text(j, value);
    else
        json_write_null(j);
}

static enum err write_push_text(struct call *call, const struct channel *c, const struct message *m,
                                struct str *ret)
{
    bool in_guild = !channel_is_private(c->type);
    struct guild guild = { 0 };
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = in_guild ? guild_find(call->tx, c->guild_id.value, &guild) : OK;

    if (e)
        return e;
    buf_init(&out, 64 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "channel_id");
    json_write_id(&j, c->id);
    json_write_name(&j, "message_id");
    json_write_id(&j, m->id);
    write_optional_text(&j, "guild_id",
                        in_guild
                            ? str_printf(call->arena, "%llu", (unsigned long long)c->guild_id.value)
                            : (struct str){ 0 });
    write_optional_text(&j, "author", displayed_name_of_author(m->author));
    write_optional_text(&j, "channel", c->name.given == GIVEN ? c->name.value : (struct str){ 0 });
    write_optional_text(&j, "guild", in_guild ? guild.name : (struct str){ 0 });
    write_optional_text(&j, "content", notification_text(call->arena, m));
    json_end_object(&j);
    *ret = buf_move_to_arena(&out, call->arena);
    return OK;
}

/* --- steps ---------------------------------------------------------------------------- */

/* Reads the subscriptions of at most PUSH_STEP_ACCOUNTS accounts. *next is the position after them;
 * next->phase is PUSH_DONE if no account is left. */
static enum err read_batch_subscriptions(struct call *call, const struct web_push_job_step *step,
                                         const struct channel *c, const struct message *m,
                                         struct web_push_batch *ret)
{
    size_t limit = step->phase == PUSH_TO_GROUPS ? PUSH_STEP_SCANNED : PUSH_STEP_ACCOUNTS;
    bool has_groups = message_mentions_everyone(m) || m->mention_roles.count;
    struct list candidates;
    enum err e = read_web_push_candidates(call, step, c, m, &candidates);
    const struct push_candidate *all = candidates.items;
    size_t checked = 0, i;

    for (i = 0; !e && i < candidates.count && checked < PUSH_STEP_ACCOUNTS &&
                ret->subscriptions.count < PUSH_STEP_SUBSCRIPTIONS;
         i++) {
        bool notified = false;

        ret->next.after = all[i].user_id;
        if (!all[i].may_concern)
            continue;
        checked++;
        e = account_is_notified(call, step, c, m, all[i].user_id, &notified);
        if (!e && notified)
            e = append_subscriptions_of_account(call, all[i].user_id, &ret->subscriptions);
    }
    if (e || i < candidates.count || candidates.count == limit)
        return e;
    ret->next.after = 0;
    ret->next.phase = step->phase == PUSH_TO_NAMED && has_groups && !channel_is_private(c->type)
                          ? PUSH_TO_GROUPS
                          : PUSH_DONE;
    return OK;
}

enum err web_push_batch_read(struct call *call, const struct web_push_job_step *step,
                             struct web_push_batch *ret)
{
    struct message m;
    struct channel c;

    *ret = (struct web_push_batch){ .next = { step->message_id, PUSH_DONE, 0 } };
    enum err e = message_find_unless_ephemeral(call, step->message_id, &m);
    if (!e)
        e = channel_find(call->tx, m.channel_id, &c);
    if (e == ERR_UNKNOWN_MESSAGE || e == ERR_UNKNOWN_CHANNEL)
        return OK;
    ret->next = *step;
    if (!e)
        e = read_batch_subscriptions(call, step, &c, &m, ret);
    if (!e && ret->subscriptions.count)
        e = write_push_text(call, &c, &m, &ret->text);
    ret->topic = str_printf(call->arena, "%llu", (unsigned long long)m.channel_id);
    if (e == ERR_UNKNOWN_GUILD) {
        *ret = (struct web_push_batch){ .next = { step->message_id, PUSH_DONE, 0 } };
        e = OK;
    }
    return e;
}
