/* answers.c - stores a member's onboarding answers. Adds the roles of options that the member has
 * newly chosen, and removes the roles of options that are no longer chosen. */
#include "model/fields/ids.h"
#include "platform/members/members.h"
#include "platform/onboarding/internal.h"

/* Bits of a member's flags. */
enum { COMPLETED_ONBOARDING = 1 << 1, STARTED_ONBOARDING = 1 << 3 };

struct answer_changes {
    int64_t version;
    struct list chosen, removed; /* ids of roles to add and to remove */
};

static const struct onboarding_option *find_prompt_option(const struct onboarding_prompt *p,
                                                          snowflake id)
{
    const struct onboarding_option *o = p->options.items;

    for (size_t i = 0; i < p->options.count; i++)
        if (o[i].id == id)
            return &o[i];
    return NULL;
}

static void collect_option_roles(struct arena *arena, const struct onboarding_option *o,
                                 const struct guild_roles_and_channels *positions, struct list *ret)
{
    const snowflake *id = o->role_ids.items;

    for (size_t i = 0; i < o->role_ids.count; i++) {
        const struct role *role = find_guild_role_by_id(positions, id[i]);

        if (role && !role->managed && !id_list_contains(ret, role->id))
            id_list_add(arena, ret, role->id);
    }
}

static void check_prompt_answer_count(struct call *call, const struct onboarding_prompt *p,
                                      size_t chosen)
{
    if (p->single_select && chosen > 1)
        call_add_field_error(call, "onboarding_responses", FORM_CHOICES,
                             "A prompt that allows one answer has several.");
    if (p->required && p->in_onboarding && !chosen)
        call_add_field_error(call, "onboarding_responses", "BASE_TYPE_REQUIRED",
                             "A required prompt has no answer.");
}

static void collect_answer_changes(struct call *call, const struct onboarding *o,
                                   const struct guild_roles_and_channels *positions,
                                   const struct list *before, struct answer_changes *a)
{
    const struct onboarding_answers *in = call->body;
    const struct onboarding_prompt *p = o->prompts.items;
    size_t found = 0;

    for (size_t i = 0; i < o->prompts.count; i++) {
        const struct onboarding_option *option = p[i].options.items;
        size_t chosen = 0;

        for (size_t k = 0; k < p[i].options.count; k++) {
            if (id_list_contains(&in->onboarding_responses, option[k].id)) {
                chosen++;
                collect_option_roles(call->arena, &option[k], positions, &a->chosen);
            } else if (id_list_contains(before, option[k].id)) {
                collect_option_roles(call->arena, &option[k], positions, &a->removed);
            }
        }
        check_prompt_answer_count(call, &p[i], chosen);
        found += chosen;
    }
    if (found == in->onboarding_responses.count)
        return;
    const snowflake *id = in->onboarding_responses.items;
    struct json_path all = json_path_key(NULL, STR("onboarding_responses"));
    for (size_t i = 0; i < in->onboarding_responses.count; i++) {
        struct json_path at = json_path_index(&all, i);
        bool known = false;

        for (size_t k = 0; k < o->prompts.count; k++)
            known |= find_prompt_option(&p[k], id[i]) != NULL;
        if (!known)
            form_add_error(&call->form, &at, FORM_CHOICES, "Value must be an option of the guild.");
    }
}

static enum err check_onboarding_answers(struct call *call)
{
    struct answer_changes *a = call_get_stage_data(call, "answer_changes");
    snowflake guild_id = call->target.guild->id;
    struct guild_roles_and_channels positions;
    struct onboarding o;
    struct list before;
    enum err e = onboarding_find(call->tx, guild_id, &o);

    if (!e && !o.enabled)
        return ERR_NOT_FOUND;
    if (!e)
        e = read_guild_roles_and_channels(call->tx, guild_id, &positions);
    if (!e)
        e = onboarding_answers_read(call->tx, guild_id, call->caller->id, &before);
    if (e || call->decoded)
        return e;
    *a = (struct answer_changes){ .version = o.version };
    collect_answer_changes(call, &o, &positions, &before, a);
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

enum err schedule_onboarding_answer_check(struct call *call)
{
    call_store_stage_data(call, "answer_changes", sizeof(struct answer_changes));
    call->read = check_onboarding_answers;
    return OK;
}

/* Adds and removes the roles of the member. Returns false if the member already has exactly these
 * roles. */
static bool apply_answers_to_member(struct call *call, const struct answer_changes *a,
                                    struct member *m)
{
    const snowflake *had = m->roles.items, *chosen = a->chosen.items;
    struct list roles = { 0 };

    for (size_t i = 0; i < m->roles.count; i++)
        if (!id_list_contains(&a->removed, had[i]) || id_list_contains(&a->chosen, had[i]))
            id_list_add(call->arena, &roles, had[i]);
    bool changed = roles.count != m->roles.count;
    for (size_t i = 0; i < a->chosen.count; i++)
        if (!id_list_contains(&roles, chosen[i])) {
            id_list_add(call->arena, &roles, chosen[i]);
            changed = true;
        }
    int64_t flags = m->flags | STARTED_ONBOARDING | COMPLETED_ONBOARDING;
    changed |= flags != m->flags;
    m->roles = roles;
    m->flags = flags;
    return changed;
}

/* POST and PUT /guilds/{guild.id}/onboarding-responses */
enum err submit_onboarding_answers(struct call *call)
{
    const struct answer_changes *a = call_get_stage_data(call, "answer_changes");
    struct onboarding_answers answers = *(const struct onboarding_answers *)call->body;
    const struct permission_computation_input *who = &call->target.member_access->input;
    struct member m = *call->target.member_access->member;
    int64_t version;

    /* Pending members may answer. Members who are timed out or quarantined may not. */
    if ((who->timed_out || who->quarantined) && member_is_restricted(who))
        return ERR_MISSING_PERMISSIONS;
    enum err e = onboarding_read_version(call->tx, m.guild_id, &version);

    if (!e && version != a->version)
        return call_restart_at_read_stage(call);
    answers.guild_id = m.guild_id;
    answers.user_id = m.user_id;
    if (!e)
        e = onboarding_answers_save(call->tx, &answers);
    if (!e && apply_answers_to_member(call, a, &m))
        e = member_update_and_emit(call, &m);
    return e ? e : call_reply_with_object(call, &answers);
}
