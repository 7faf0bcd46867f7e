/* permission_explanation.c - explains in sentences how a permission is computed.
 *
 * The computation of permissions records its steps (struct permission_trace); this file converts
 * the steps to sentences. It runs for refused calls that are recorded, and for the operator. */
#include "base/timestamp.h"
#include "platform/accounts/users.h"
#include "platform/channels/internal.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

struct explainer {
    struct arena *arena;
    const struct member_access *access;
    const struct channel *channel; /* NULL: the whole guild */
    struct list roles;             /* all roles of the guild (struct role) */
    struct str user, where;
    struct permission_trace *trace;
};

static struct str find_role_name(const struct explainer *x, snowflake id)
{
    const struct role *r = x->roles.items;

    for (size_t i = 0; i < x->roles.count; i++)
        if (r[i].id == id)
            return id == x->access->guild_id ? STR("@everyone") : r[i].name;
    return STR("(deleted role)");
}

enum { NAMED_ROLES_MAX = 10, ROLE_NAMES_BYTES = 8 * 1024 };

/* Returns the names of the member's roles, such as "@everyone, Crew, Helpers": at most 10 names of
 * at most 400 bytes. */
static struct str format_member_role_names(const struct explainer *x)
{
    struct buf out;
    const struct permission_computation_input *in = &x->access->input;

    buf_init(&out, ROLE_NAMES_BYTES);
    buf_add_lit(&out, "@everyone");
    for (size_t i = 0; i < in->role_count && i < NAMED_ROLES_MAX; i++)
        buf_printf(&out, ", %.*s", STR_ARGS(find_role_name(x, in->roles[i])));
    return buf_move_to_arena(&out, x->arena);
}

/* Adds a step per role to the trace, because the permission computation itself only gets the union
 * of the roles' permissions. */
static void add_role_steps_to_trace(struct explainer *x)
{
    const struct permission_computation_input *in = &x->access->input;
    const struct role *r = x->roles.items;
    uint64_t base = 0;

    for (int everyone = 1; everyone >= 0; everyone--)
        for (size_t i = 0; i < x->roles.count; i++) {
            bool has = false;

            for (size_t k = 0; k < in->role_count; k++)
                has |= in->roles[k] == r[i].id;
            if (everyone ? r[i].id != in->guild_id : !has)
                continue;
            base |= r[i].permissions;
            permission_trace_add(x->trace, &(struct permission_step){ STEP_ROLE, r[i].id,
                                                                      r[i].permissions, 0, base });
        }
}

static enum err permission_explainer_init(struct explainer *x, struct tx *tx,
                                          const struct member_access *s, const struct channel *c)
{
    struct user user;
    struct channel parent;
    enum err e = user_find(tx, s->user_id, &user);

    *x = (struct explainer){ .arena = tx_arena(tx), .access = s, .channel = c };
    if (!e)
        e = guild_roles_list(tx, s->guild_id, &x->roles);
    /* A thread has no overwrites of its own: explain those of its parent, where an administrator
     * can change them. */
    if (!e && c && channel_is_thread(c->type)) {
        e = channel_find(tx, c->parent_id.value, &parent);
        c = &parent;
    }
    if (e)
        return e;
    x->user = user.username;
    x->where =
        c && c->name.value.n ? STR_CONCAT(x->arena, STR("#"), c->name.value) : STR("the server");
    x->trace = arena_alloc(x->arena, sizeof *x->trace);
    add_role_steps_to_trace(x);
    return OK;
}

static struct str verification_error_text(enum err e)
{
    return str_of(e ? error_info(e)->message : "");
}

static struct str format_timeout_sentence(const struct explainer *x)
{
    char until[TIMESTAMP_TEXT_SIZE];

    timestamp_format(x->access->member->communication_disabled_until.value, until);
    return str_printf(x->arena, "%.*s is timed out until %.19s UTC", STR_ARGS(x->user), until);
}

/* Returns a sentence that explains how the step changes the permission; "" if the step does not
 * change it. */
static struct str format_step_sentence(const struct explainer *x,
                                       const struct permission_step *step, uint64_t bit,
                                       const char *name)
{
    struct arena *a = x->arena;
    const char *verb = step->allow & bit ? "allows" : "denies";

    if (step->kind == STEP_ROLE && !(step->allow & bit))
        return STR("");
    if (step->kind != STEP_THREAD && !((step->allow | step->deny) & bit))
        return STR("");
    switch (step->kind) {
    case STEP_ROLE:
        return str_printf(a, "the role %.*s grants %s", STR_ARGS(find_role_name(x, step->id)),
                          name);
    case STEP_OWNER:
        return str_printf(a, "%.*s owns the server, so every permission is granted",
                          STR_ARGS(x->user));
    case STEP_ADMINISTRATOR:
        return STR("a role grants ADMINISTRATOR, so every permission is granted and overwrites "
                   "have no effect");
    case STEP_OVERWRITE_EVERYONE:
    case STEP_OVERWRITE_ROLE:
        return str_printf(a, "the overwrite of %.*s in %.*s %s %s",
                          STR_ARGS(find_role_name(x, step->id)), STR_ARGS(x->where), verb, name);
    case STEP_OVERWRITE_MEMBER:
        return str_printf(a, "the overwrite of the member %.*s in %.*s %s %s", STR_ARGS(x->user),
                          STR_ARGS(x->where), verb, name);
    case STEP_TIMED_OUT:
        return format_timeout_sentence(x);
    case STEP_PENDING:
        return str_printf(a, "%.*s has not passed membership screening", STR_ARGS(x->user));
    case STEP_UNVERIFIED:
        return str_printf(a, "%.*s does not meet the verification level of the server (%.*s)",
                          STR_ARGS(x->user),
                          STR_ARGS(verification_error_text(x->access->input.unverified)));
    case STEP_QUARANTINED:
        return str_printf(a, "auto moderation has quarantined %.*s because of the name",
                          STR_ARGS(x->user));
    case STEP_THREAD:
        return bit & PERMISSION(SEND_MESSAGES)
                   ? STR("in threads SEND_MESSAGES_IN_THREADS replaces SEND_MESSAGES")
                   : STR("");
    case STEP_NEEDS_VIEW:
        return STR("VIEW_CHANNEL is missing, and without it no permission of the channel counts");
    case STEP_NEEDS_CONNECT:
        return STR("CONNECT is missing, and without it no voice permission counts");
    case STEP_NEEDS_SEND:
        return str_printf(a, "SEND_MESSAGES is missing, and %s does not count without it", name);
    case STEP_PRIVATE_THREAD:
        return str_printf(a, "%.*s is not a member of this private thread", STR_ARGS(x->user));
    case STEP_NO_SECOND_FACTOR:
        return STR("the server requires two-factor authentication for moderation, and the account "
                   "(of a bot: its owner) has none");
    }
    return STR("");
}

/* Returns how an administrator can change the result of the step, as an instruction. */
static const char *describe_fix_of_permission_step(enum permission_step_kind kind)
{
    switch (kind) {
    case STEP_OVERWRITE_EVERYONE:
        return "remove this deny, or allow it in the channel for one of the member's roles";
    case STEP_OVERWRITE_ROLE:
        return "remove this deny or the role, or allow it in the channel for another of the "
               "member's roles";
    case STEP_OVERWRITE_MEMBER:
        return "remove this deny in the permissions of the channel";
    case STEP_TIMED_OUT:
        return "wait, or remove the time-out";
    case STEP_PENDING:
        return "accept the rules of the server";
    case STEP_QUARANTINED:
        return "change the name";
    case STEP_PRIVATE_THREAD:
        return "add the member to the thread, or grant MANAGE_THREADS";
    case STEP_NO_SECOND_FACTOR:
        return "turn on two-factor authentication";
    default:
        return "ask a moderator";
    }
}

/* Returns the permission without which the step removes other permissions, such as VIEW_CHANNEL;
 * 0 if there is none. */
static uint64_t required_permission(enum permission_step_kind kind)
{
    switch (kind) {
    case STEP_NEEDS_VIEW:
        return PERMISSION(VIEW_CHANNEL);
    case STEP_NEEDS_CONNECT:
        return PERMISSION(CONNECT);
    case STEP_NEEDS_SEND:
        return PERMISSION(SEND_MESSAGES);
    case STEP_THREAD:
        return PERMISSION(SEND_MESSAGES_IN_THREADS);
    default:
        return 0;
    }
}

/* Returns the last step of the trace that removed the permission; NULL if no step ever granted
 * it. */
static const struct permission_step *find_deciding_step(const struct permission_trace *trace,
                                                        uint64_t bit)
{
    const struct permission_step *found = NULL;

    for (size_t i = 0; i < trace->count; i++) {
        const struct permission_step *s = &trace->steps[i];
        /* The step that removes permissions because VIEW_CHANNEL is missing also lists
         * VIEW_CHANNEL as removed, but an earlier step is the cause. */
        if (required_permission(s->kind) == bit)
            continue;
        bool takes = s->deny & bit || (s->kind == STEP_THREAD && bit & PERMISSION(SEND_MESSAGES));

        /* This overwrite denies the permission. If `after` still contains it, another role allows
         * it. */
        if (takes && !(s->after & bit))
            found = s;
        else if (s->after & bit)
            found = NULL;
    }
    return found;
}

static const char *name_of_permission_bit(uint64_t bit)
{
    return get_permission_name((unsigned)__builtin_ctzll(bit));
}

/* Returns cause and fix, such as "the overwrite of Muted in #general denies X; remove …". */
static struct str format_cause_and_fix(const struct explainer *x, uint64_t bit)
{
    const struct permission_step *s = find_deciding_step(x->trace, bit);
    const char *name = name_of_permission_bit(bit);
    uint64_t required = s ? required_permission(s->kind) : 0;

    if (!s)
        return str_printf(x->arena, "none of its roles (%.*s) grants %s; grant it to one of them%s",
                          STR_ARGS(format_member_role_names(x)), name,
                          x->channel ? ", or allow it in the permissions of the channel" : "");
    struct str words = format_step_sentence(x, s, bit, name);
    if (required)
        return STR_CONCAT(x->arena, words, STR(": "), format_cause_and_fix(x, required));
    return str_printf(x->arena, "%.*s; %s", STR_ARGS(words),
                      describe_fix_of_permission_step(s->kind));
}

static void append_explained_permission_step(struct explainer *x, struct list *steps,
                                             struct str text, bool has)
{
    struct explained_permission_step *s = list_append(x->arena, steps, sizeof *s);

    *s = (struct explained_permission_step){ text, has };
}

static struct list list_explained_steps(struct explainer *x, uint64_t bit)
{
    const struct permission_trace *trace = x->trace;
    const char *name = name_of_permission_bit(bit);
    struct list steps = { 0 };
    bool roles_done = false;

    if (!x->access->input.owner)
        append_explained_permission_step(
            x, &steps, str_printf(x->arena, "%.*s does not own the server", STR_ARGS(x->user)),
            false);
    for (size_t i = 0; i <= trace->count; i++) {
        const struct permission_step *s = i < trace->count ? &trace->steps[i] : NULL;

        if (!roles_done && (!s || s->kind != STEP_ROLE)) {
            roles_done = true;
            if (!(x->access->input.base & bit) && !x->access->input.owner)
                append_explained_permission_step(
                    x, &steps,
                    str_printf(x->arena, "none of the roles (%.*s) grants %s",
                               STR_ARGS(format_member_role_names(x)), name),
                    false);
        }
        struct str words = s ? format_step_sentence(x, s, bit, name) : STR("");
        if (words.n)
            append_explained_permission_step(x, &steps, words, s->after & bit);
    }
    return steps;
}

enum err explain_permission(struct tx *tx, const struct member_access *s, const struct channel *c,
                            unsigned permission_bit, struct permission_explanation *ret)
{
    uint64_t bit = UINT64_C(1) << permission_bit;
    struct explainer x;
    enum err e = permission_explainer_init(&x, tx, s, c);

    *ret = (struct permission_explanation){ 0 };
    if (!e)
        e = compute_member_permissions_with_trace(tx, s, c, x.trace, &ret->permissions);
    if (e)
        return e;
    ret->allowed = ret->permissions & bit;
    ret->steps = list_explained_steps(&x, bit);
    if (!ret->allowed)
        ret->cause = str_printf(x.arena, "%.*s lacks %s in %.*s: %.*s", STR_ARGS(x.user),
                                get_permission_name(permission_bit), STR_ARGS(x.where),
                                STR_ARGS(format_cause_and_fix(&x, bit)));
    return OK;
}

/* --- refused calls ---------------------------------------------------------------------- */

static enum err explain_missing_permissions(struct call *call, const struct channel *c,
                                            uint64_t missing, bool any)
{
    struct permission_explanation why;
    struct buf names;
    uint64_t rest = missing & (missing - 1);
    enum err e = explain_permission(call->tx, call->target.member_access, c,
                                    (unsigned)__builtin_ctzll(missing), &why);

    if (e || why.allowed)
        return e;
    buf_init(&names, 1024);
    permission_set_append_names(&names, rest);
    call_set_refusal_cause(call, "%.*s%s%.*s%s", STR_ARGS(why.cause),
                           !rest ? ""
                           : any ? "; instead, "
                                 : "; also missing: ",
                           STR_ARGS(buf_as_str(&names)), rest && any ? " would suffice" : "");
    buf_clear(&names);
    return OK;
}

static enum err explain_role_rank_refusal(struct call *call)
{
    const struct member_access *s = call->target.member_access;
    struct explainer x;
    enum err e = permission_explainer_init(&x, call->tx, s, NULL);

    if (!e)
        call_set_refusal_cause(
            call,
            "the highest role of %.*s, %.*s, is not above the role or member that the "
            "call changes, or the call grants permissions that %.*s lacks; move the "
            "role up in the list of roles of the server",
            STR_ARGS(x.user), STR_ARGS(find_role_name(&x, s->top_role)), STR_ARGS(x.user));
    return e;
}

static void explain_that_caller_is_no_member(struct call *call)
{
    if (call->caller->kind == CALLER_BOT)
        call_set_refusal_cause(
            call,
            "the bot is not a member of this server; add it with its install link: "
            "/oauth2/authorize?client_id=%llu&scope=bot+applications.commands",
            (unsigned long long)call->caller->application_id);
    else
        call_set_refusal_cause(call, "the account is not a member of this server; join it first");
}

static enum err explain_missing_access(struct call *call)
{
    const struct call_path_objects *t = &call->target;

    if (t->channel && channel_is_private(t->channel->type)) {
        call_set_refusal_cause(call, "the account is not in this direct message or group");
        return OK;
    }
    if (!t->member_access)
        return OK;
    if (!t->member_access->member) {
        explain_that_caller_is_no_member(call);
        return OK;
    }
    return t->channel
               ? explain_missing_permissions(call, t->channel, PERMISSION(VIEW_CHANNEL), false)
               : OK;
}

/* Explains why a restricted member is refused. This check runs before the permission checks. */
static enum err explain_member_restriction(struct call *call)
{
    const struct member_access *s = call->target.member_access;

    return member_is_restricted(&s->input)
               ? explain_missing_permissions(call, call->target.channel, PERMISSION(SEND_MESSAGES),
                                             false)
               : OK;
}

enum err explain_access_refusal(struct call *call, const struct call_refusal_cause *refusal)
{
    const struct call_path_objects *t = &call->target;
    bool member = call->caller && t->member_access && t->member_access->member;

    if (refusal->error == ERR_MISSING_ACCESS && call->caller)
        return explain_missing_access(call);
    if (!member ||
        (refusal->error != ERR_MISSING_PERMISSIONS && refusal->error != ERR_GUILD_MFA_REQUIRED))
        return OK;
    if (refusal->rank)
        return explain_role_rank_refusal(call);
    if (refusal->all || refusal->any)
        return explain_missing_permissions(
            call, t->channel, refusal->all ? refusal->all : refusal->any, !refusal->all);
    return explain_member_restriction(call);
}
