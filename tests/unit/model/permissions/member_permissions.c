/* member_permissions.c - tests the computation of permissions: named examples for each step, and
 * random guilds against a slow reference implementation. */
#include "unit/unit.h"

#include <string.h>

#include "model/permissions/member_permissions.h"

enum { GUILD = 1000, ME = 7, MANY = 200000, MOST_ROLES = 6, MOST_OVERWRITES = 12, BITS = 64 };

/* --- reference implementation: one flag per permission, step by step ------------------ */

struct slow_role {
    snowflake id;
    bool has[BITS];
};
struct reference_apply_overwrite {
    snowflake id;
    bool for_role; /* otherwise for a member */
    bool allow[BITS], deny[BITS];
};
struct slow_channel {
    int64_t type;
    struct reference_apply_overwrite overwrites[MOST_OVERWRITES];
    size_t overwrite_count;
    bool thread; /* a thread of this channel */
};
struct slow_member {
    snowflake id;
    snowflake roles[MOST_ROLES];
    size_t role_count;
    int64_t timed_out_until;
    bool quarantined, unverified;
};
struct slow_guild {
    snowflake id, owner_id;
    struct slow_role roles[MOST_ROLES + 1]; /* the first is @everyone */
    size_t role_count;
    int64_t now;
};

#define BIT(name) PERMISSION_BIT_##name

/* Permissions that apply to channels. */
static const int channel_bits[] = {
    BIT(CREATE_INSTANT_INVITE),
    BIT(MANAGE_CHANNELS),
    BIT(ADD_REACTIONS),
    BIT(PRIORITY_SPEAKER),
    BIT(STREAM),
    BIT(VIEW_CHANNEL),
    BIT(SEND_MESSAGES),
    BIT(SEND_TTS_MESSAGES),
    BIT(MANAGE_MESSAGES),
    BIT(EMBED_LINKS),
    BIT(ATTACH_FILES),
    BIT(READ_MESSAGE_HISTORY),
    BIT(MENTION_EVERYONE),
    BIT(USE_EXTERNAL_EMOJIS),
    BIT(CONNECT),
    BIT(SPEAK),
    BIT(MUTE_MEMBERS),
    BIT(DEAFEN_MEMBERS),
    BIT(MOVE_MEMBERS),
    BIT(USE_VAD),
    BIT(MANAGE_ROLES),
    BIT(MANAGE_WEBHOOKS),
    BIT(USE_APPLICATION_COMMANDS),
    BIT(REQUEST_TO_SPEAK),
    BIT(MANAGE_EVENTS),
    BIT(MANAGE_THREADS),
    BIT(CREATE_PUBLIC_THREADS),
    BIT(CREATE_PRIVATE_THREADS),
    BIT(USE_EXTERNAL_STICKERS),
    BIT(SEND_MESSAGES_IN_THREADS),
    BIT(USE_EMBEDDED_ACTIVITIES),
    BIT(USE_SOUNDBOARD),
    BIT(CREATE_EVENTS),
    BIT(USE_EXTERNAL_SOUNDS),
    BIT(SEND_VOICE_MESSAGES),
    BIT(SET_VOICE_CHANNEL_STATUS),
    BIT(SEND_POLLS),
    BIT(USE_EXTERNAL_APPS),
    BIT(PIN_MESSAGES),
    BIT(BYPASS_SLOWMODE),
};

static const int voice_bits[] = {
    BIT(PRIORITY_SPEAKER),
    BIT(STREAM),
    BIT(CONNECT),
    BIT(SPEAK),
    BIT(MUTE_MEMBERS),
    BIT(DEAFEN_MEMBERS),
    BIT(MOVE_MEMBERS),
    BIT(USE_VAD),
    BIT(REQUEST_TO_SPEAK),
    BIT(USE_EMBEDDED_ACTIVITIES),
    BIT(USE_SOUNDBOARD),
    BIT(USE_EXTERNAL_SOUNDS),
    BIT(SET_VOICE_CHANNEL_STATUS),
};

static uint64_t pack(const bool *has)
{
    uint64_t set = 0;

    for (int i = 0; i < BITS; i++)
        if (has[i])
            set |= UINT64_C(1) << i;
    return set;
}

static void unpack(uint64_t set, bool *has)
{
    for (int i = 0; i < BITS; i++)
        has[i] = set >> i & 1;
}

static bool slow_holds(const struct slow_member *m, snowflake role)
{
    for (size_t i = 0; i < m->role_count; i++)
        if (m->roles[i] == role)
            return true;
    return false;
}

/* Steps 1 to 3. Returns true if the member has all permissions. */
static bool slow_base(const struct slow_guild *g, const struct slow_member *m, bool *p)
{
    memset(p, 0, BITS);
    if (m->id == g->owner_id)
        return true;
    for (size_t i = 0; i < g->role_count; i++)
        if (g->roles[i].id == g->id || slow_holds(m, g->roles[i].id))
            for (int b = 0; b < BITS; b++)
                p[b] = p[b] || g->roles[i].has[b];
    return p[BIT(ADMINISTRATOR)];
}

/* Step 8: timeout, membership screening and quarantine. */
static void reference_apply_timeout(const struct slow_guild *g, const struct slow_member *m,
                                    bool *p)
{
    for (int b = 0; b < BITS; b++) {
        bool seeing = b == BIT(VIEW_CHANNEL) || b == BIT(READ_MESSAGE_HISTORY);

        if ((m->timed_out_until > g->now || m->unverified) && !seeing)
            p[b] = false;
        if (m->quarantined && !seeing && b != BIT(CHANGE_NICKNAME))
            p[b] = false;
    }
}

static uint64_t slow_in_guild(const struct slow_guild *g, const struct slow_member *m)
{
    bool p[BITS];

    if (slow_base(g, m, p))
        return PERMISSIONS_ALL;
    reference_apply_timeout(g, m, p);
    return pack(p);
}

/* Steps 5 and 7: apply one overwrite. */
static void reference_apply_overwrite(const struct reference_apply_overwrite *o, bool *p)
{
    for (int b = 0; b < BITS; b++) {
        if (o->deny[b])
            p[b] = false;
        if (o->allow[b])
            p[b] = true;
    }
}

/* Step 6: remove everything that any role denies, then add everything that any role allows. */
static void reference_apply_role_overwrites(const struct slow_guild *g, const struct slow_member *m,
                                            const struct slow_channel *c, bool *p)
{
    for (int b = 0; b < BITS; b++) {
        bool denied = false, allowed = false;

        for (size_t i = 0; i < c->overwrite_count; i++) {
            const struct reference_apply_overwrite *o = &c->overwrites[i];

            if (!o->for_role || o->id == g->id || !slow_holds(m, o->id))
                continue;
            denied = denied || o->deny[b];
            allowed = allowed || o->allow[b];
        }
        if (denied)
            p[b] = false;
        if (allowed)
            p[b] = true;
    }
}

/* Steps 9 and 10, with the permission that counts as sending in this channel (step 11). */
static void slow_imply(const struct slow_channel *c, bool *p)
{
    bool voice = c->type == CHANNEL_VOICE || c->type == CHANNEL_STAGE;

    if (!p[BIT(VIEW_CHANNEL)])
        for (size_t i = 0; i < sizeof channel_bits / sizeof *channel_bits; i++)
            p[channel_bits[i]] = false;
    if (!voice && !p[BIT(SEND_MESSAGES)])
        p[BIT(MENTION_EVERYONE)] = p[BIT(SEND_TTS_MESSAGES)] = p[BIT(ATTACH_FILES)] =
            p[BIT(EMBED_LINKS)] = false;
    if (voice && !p[BIT(CONNECT)]) {
        for (size_t i = 0; i < sizeof voice_bits / sizeof *voice_bits; i++)
            p[voice_bits[i]] = false;
        p[BIT(MANAGE_CHANNELS)] = p[BIT(MANAGE_ROLES)] = false;
    }
}

static uint64_t slow_in_channel(const struct slow_guild *g, const struct slow_member *m,
                                const struct slow_channel *c)
{
    bool p[BITS];

    if (slow_base(g, m, p))
        return PERMISSIONS_ALL;
    for (size_t i = 0; i < c->overwrite_count; i++)
        if (c->overwrites[i].for_role && c->overwrites[i].id == g->id)
            reference_apply_overwrite(&c->overwrites[i], p);
    reference_apply_role_overwrites(g, m, c, p);
    for (size_t i = 0; i < c->overwrite_count; i++)
        if (!c->overwrites[i].for_role && c->overwrites[i].id == m->id)
            reference_apply_overwrite(&c->overwrites[i], p);
    p[BIT(ADMINISTRATOR)] = false; /* no channel grants administrator */
    reference_apply_timeout(g, m, p);
    if (c->thread)
        p[BIT(SEND_MESSAGES)] = p[BIT(SEND_MESSAGES_IN_THREADS)];
    slow_imply(c, p);
    return pack(p);
}

/* --- random guilds -------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ULL;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static unsigned below(unsigned n)
{
    return (unsigned)(random_bits() >> 33) % n;
}

/* Returns a dense, sparse, single or empty permission set; occasionally with administrator. */
static uint64_t random_permissions(void)
{
    uint64_t set = random_bits();

    switch (below(5)) {
    case 0:
        set = 0;
        break;
    case 1:
        set = UINT64_C(1) << below(53);
        break;
    case 2:
        set &= random_bits();
        break;
    case 3:
        set |= random_bits() | random_bits();
        break;
    default:
        break;
    }
    set &= PERMISSIONS_ALL & ~PERMISSION(ADMINISTRATOR);
    return below(20) == 0 ? set | PERMISSION(ADMINISTRATOR) : set;
}

static void make_random_guild(struct slow_guild *g, struct slow_member *m)
{
    *g = (struct slow_guild){ .id = GUILD, .owner_id = below(15) ? 99 : ME, .now = 1000 };
    *m = (struct slow_member){ .id = ME,
                               .quarantined = below(20) == 0,
                               .unverified = below(20) == 0 };
    m->timed_out_until = below(6) ? 0 : 999 + below(3);
    g->role_count = 1 + below(MOST_ROLES + 1);
    for (size_t i = 0; i < g->role_count; i++) {
        g->roles[i].id = GUILD + i;
        unpack(random_permissions(), g->roles[i].has);
        if (i && below(2))
            m->roles[m->role_count++] = GUILD + i;
    }
}

static void make_random_channel(struct slow_channel *c)
{
    static const int64_t types[] = { CHANNEL_TEXT,         CHANNEL_VOICE,    CHANNEL_STAGE,
                                     CHANNEL_ANNOUNCEMENT, CHANNEL_CATEGORY, CHANNEL_FORUM };
    size_t wanted = below(MOST_OVERWRITES);

    *c = (struct slow_channel){ .type = types[below(6)], .thread = below(3) == 0 };
    for (size_t i = 0; i < wanted; i++) {
        struct reference_apply_overwrite o = { .for_role = below(4) != 0 };
        bool there = false;

        o.id = o.for_role ? GUILD + below(MOST_ROLES + 2) : ME + below(2);
        unpack(random_permissions(), o.allow);
        unpack(random_permissions(), o.deny);
        for (size_t k = 0; k < c->overwrite_count; k++)
            there = there || c->overwrites[k].id == o.id;
        if (!there)
            c->overwrites[c->overwrite_count++] = o;
    }
}

/* Converts the member for the real implementation. */
static struct permission_computation_input member_of(const struct slow_guild *g,
                                                     const struct slow_member *m)
{
    struct permission_computation_input who = {
        .guild_id = g->id,
        .user_id = m->id,
        .owner = g->owner_id == m->id,
        .timed_out = m->timed_out_until > g->now,
        .quarantined = m->quarantined,
        .unverified = m->unverified ? ERR_VERIFY_EMAIL : OK,
        .roles = m->roles,
        .role_count = m->role_count,
    };

    for (size_t i = 0; i < g->role_count; i++)
        if (i == 0 || slow_holds(m, g->roles[i].id))
            who.base |= pack(g->roles[i].has);
    return who;
}

static uint64_t traced_in_channel(const struct permission_computation_input *who,
                                  const struct slow_channel *c, struct permission_trace *trace)
{
    struct overwrite overwrites[MOST_OVERWRITES];

    for (size_t i = 0; i < c->overwrite_count; i++)
        overwrites[i] = (struct overwrite){
            .id = c->overwrites[i].id,
            .type = c->overwrites[i].for_role ? OVERWRITE_ROLE : OVERWRITE_MEMBER,
            .allow = pack(c->overwrites[i].allow),
            .deny = pack(c->overwrites[i].deny),
        };
    return trace ? permissions_in_channel_traced(who, c->type, overwrites, c->overwrite_count,
                                                 c->thread, trace)
                 : permissions_in_channel(who, c->type, overwrites, c->overwrite_count, c->thread);
}

static uint64_t fast_in_channel(const struct permission_computation_input *who,
                                const struct slow_channel *c)
{
    return traced_in_channel(who, c, NULL);
}

static void permissions_match_the_reference_implementation_on_random_guilds(void **unused)
{
    struct slow_guild g;
    struct slow_member m;
    struct slow_channel c;
    unsigned all = 0, none = 0;

    (void)unused;
    for (int i = 0; i < MANY; i++) {
        make_random_guild(&g, &m);
        make_random_channel(&c);
        struct permission_computation_input who = member_of(&g, &m);
        uint64_t expected = slow_in_channel(&g, &m, &c), got = fast_in_channel(&who, &c);

        if (got != expected || permissions_in_guild(&who) != slow_in_guild(&g, &m))
            fail_msg("case %d: %llx instead of %llx", i, (unsigned long long)got,
                     (unsigned long long)expected);
        all += expected == PERMISSIONS_ALL;
        none += expected == 0;
    }
    /* The random cases are neither all allowed nor all denied. */
    assert_in_range(all, MANY / 20, MANY / 2);
    assert_in_range(none, MANY / 100, MANY / 2);
}

/* The steps alone, applied in order to the permissions of the roles, give the result. */
static uint64_t replay_trace(const struct permission_trace *trace, uint64_t base)
{
    uint64_t now = base;

    for (size_t i = 0; i < trace->count; i++) {
        const struct permission_step *s = &trace->steps[i];
        uint64_t deny = s->deny, allow = s->allow;

        /* Overwrites of roles count together. */
        for (; s->kind == STEP_OVERWRITE_ROLE && i + 1 < trace->count &&
               trace->steps[i + 1].kind == STEP_OVERWRITE_ROLE;
             i++) {
            deny |= trace->steps[i + 1].deny;
            allow |= trace->steps[i + 1].allow;
        }
        if (s->kind == STEP_THREAD) {
            bool send = now & PERMISSION(SEND_MESSAGES_IN_THREADS);

            deny = PERMISSION(SEND_MESSAGES);
            allow = send ? PERMISSION(SEND_MESSAGES) : 0;
        }
        now = (now & ~deny) | allow;
        /* ADMINISTRATOR in an overwrite has no effect, and the next step removes it. */
        if (!(s->allow == PERMISSIONS_ALL && s->kind <= STEP_ADMINISTRATOR))
            now &= ~PERMISSION(ADMINISTRATOR);
        if ((s->after & ~PERMISSION(ADMINISTRATOR)) != (now & ~PERMISSION(ADMINISTRATOR)))
            fail_msg("step %zu: %llx, not %llx", i, (unsigned long long)s->after,
                     (unsigned long long)now);
    }
    return now;
}

static void explanation_matches_the_result_on_random_guilds(void **unused)
{
    static struct permission_trace trace;
    struct slow_guild g;
    struct slow_member m;
    struct slow_channel c;
    size_t steps = 0;

    (void)unused;
    for (int i = 0; i < MANY; i++) {
        make_random_guild(&g, &m);
        make_random_channel(&c);
        struct permission_computation_input who = member_of(&g, &m);
        uint64_t expected = fast_in_channel(&who, &c);

        trace.count = 0;
        assert_true(traced_in_channel(&who, &c, &trace) == expected);
        uint64_t base = who.base & ~PERMISSION(ADMINISTRATOR);
        if (replay_trace(&trace, base) != expected)
            fail_msg("case %d: the steps do not give the result", i);
        steps += trace.count;
        trace.count = 0;
        assert_true(permissions_in_guild_traced(&who, &trace) == permissions_in_guild(&who));
        assert_true(replay_trace(&trace, base) == permissions_in_guild(&who));
    }
    assert_true(steps > MANY);
}

/* --- named examples ------------------------------------------------------------------- */

static const snowflake my_roles[] = { GUILD + 1, GUILD + 2 };

static struct permission_computation_input me_with(uint64_t base)
{
    return (struct permission_computation_input){
        .guild_id = GUILD, .user_id = ME, .base = base, .roles = my_roles, .role_count = 2
    };
}

#define ALLOW(target, kind, perms) ((struct overwrite){ (target), (kind), (perms), 0 })
#define DENY(target, kind, perms)  ((struct overwrite){ (target), (kind), 0, (perms) })
#define IN(who, type, thread, ...)                                \
    permissions_in_channel(                                       \
        (who), (type), (const struct overwrite[]){ __VA_ARGS__ }, \
        sizeof((const struct overwrite[]){ __VA_ARGS__ }) / sizeof(struct overwrite), (thread))

static const uint64_t VIEW = PERMISSION(VIEW_CHANNEL), SEND = PERMISSION(SEND_MESSAGES);

static void guild_owner_has_every_permission_despite_denials(void **unused)
{
    struct permission_computation_input who = me_with(0);

    (void)unused;
    who.owner = who.timed_out = who.quarantined = true;
    assert_true(permissions_in_guild(&who) == PERMISSIONS_ALL);
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD, OVERWRITE_ROLE, PERMISSIONS_ALL),
                   DENY(ME, OVERWRITE_MEMBER, PERMISSIONS_ALL)) == PERMISSIONS_ALL);
}

static void administrator_has_every_permission_even_when_timed_out(void **unused)
{
    struct permission_computation_input who = me_with(PERMISSION(ADMINISTRATOR));

    (void)unused;
    who.timed_out = true;
    assert_true(permissions_in_guild(&who) == PERMISSIONS_ALL);
    assert_true(IN(&who, CHANNEL_VOICE, true, DENY(ME, OVERWRITE_MEMBER, PERMISSIONS_ALL)) ==
                PERMISSIONS_ALL);
}

static void overwrite_cannot_grant_administrator(void **unused)
{
    struct permission_computation_input who = me_with(VIEW | SEND);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false,
                   ALLOW(ME, OVERWRITE_MEMBER, PERMISSION(ADMINISTRATOR)),
                   ALLOW(GUILD, OVERWRITE_ROLE, PERMISSION(ADMINISTRATOR))) == (VIEW | SEND));
}

static void role_allows_override_the_denials_of_other_roles(void **unused)
{
    struct permission_computation_input who = me_with(VIEW | SEND);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(GUILD + 1, OVERWRITE_ROLE, SEND),
                   DENY(GUILD + 2, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD + 1, OVERWRITE_ROLE, SEND),
                   ALLOW(GUILD + 2, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD + 1, OVERWRITE_ROLE, SEND)) == VIEW);
}

static void member_overwrites_override_roles_which_override_everyone(void **unused)
{
    struct permission_computation_input who = me_with(VIEW | SEND);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(GUILD + 1, OVERWRITE_ROLE, SEND),
                   DENY(GUILD, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(ME, OVERWRITE_MEMBER, SEND),
                   ALLOW(GUILD + 1, OVERWRITE_ROLE, SEND)) == VIEW);
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(ME, OVERWRITE_MEMBER, SEND),
                   DENY(GUILD + 1, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
}

static void overwrites_for_other_members_and_roles_are_ignored(void **unused)
{
    struct permission_computation_input who = me_with(VIEW);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD + 3, OVERWRITE_ROLE, VIEW),
                   DENY(ME + 1, OVERWRITE_MEMBER, VIEW), DENY(ME, OVERWRITE_ROLE, VIEW),
                   DENY(GUILD + 1, OVERWRITE_MEMBER, VIEW)) == VIEW);
}

static void timed_out_member_can_only_view_and_read_history(void **unused)
{
    struct permission_computation_input who = me_with(PERMISSIONS_ALL & ~PERMISSION(ADMINISTRATOR));
    uint64_t seeing = VIEW | PERMISSION(READ_MESSAGE_HISTORY);

    (void)unused;
    who.timed_out = true;
    assert_true(permissions_in_guild(&who) == seeing);
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(ME, OVERWRITE_MEMBER, SEND)) == seeing);
    who.timed_out = false;
    who.quarantined = true;
    assert_true(permissions_in_guild(&who) == (seeing | PERMISSION(CHANGE_NICKNAME)));
}

static void member_without_view_channel_has_no_channel_permissions(void **unused)
{
    struct permission_computation_input who =
        me_with(PERMISSIONS_DEFAULT | PERMISSION(MANAGE_GUILD));

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD, OVERWRITE_ROLE, VIEW)) ==
                (PERMISSION(MANAGE_GUILD) | PERMISSION(CHANGE_NICKNAME)));
}

static void member_without_send_messages_cannot_mention_everyone_or_attach(void **unused)
{
    uint64_t with = VIEW | PERMISSION(ADD_REACTIONS),
             more = PERMISSION(MENTION_EVERYONE) | PERMISSION(SEND_TTS_MESSAGES) |
                    PERMISSION(ATTACH_FILES) | PERMISSION(EMBED_LINKS);
    struct permission_computation_input who = me_with(with | more);

    (void)unused;
    assert_true(permissions_in_channel(&who, CHANNEL_TEXT, NULL, 0, false) == with);
    assert_true(permissions_in_channel(&who, CHANNEL_VOICE, NULL, 0, false) == (with | more));
    who.base |= SEND;
    assert_true(permissions_in_channel(&who, CHANNEL_TEXT, NULL, 0, false) == (with | more | SEND));
}

static void member_without_connect_has_no_voice_or_manage_permissions(void **unused)
{
    uint64_t voice = PERMISSION(SPEAK) | PERMISSION(STREAM) | PERMISSION(MOVE_MEMBERS) |
                     PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES);
    struct permission_computation_input who = me_with(VIEW | SEND | voice);

    (void)unused;
    assert_true(permissions_in_channel(&who, CHANNEL_VOICE, NULL, 0, false) == (VIEW | SEND));
    assert_true(permissions_in_channel(&who, CHANNEL_STAGE, NULL, 0, false) == (VIEW | SEND));
    assert_true(permissions_in_channel(&who, CHANNEL_TEXT, NULL, 0, false) ==
                (VIEW | SEND | voice));
    who.base |= PERMISSION(CONNECT);
    assert_true(permissions_in_channel(&who, CHANNEL_VOICE, NULL, 0, false) == who.base);
}

static void threads_require_send_messages_in_threads(void **unused)
{
    uint64_t in_threads = PERMISSION(SEND_MESSAGES_IN_THREADS);
    struct permission_computation_input sender = me_with(VIEW | SEND | PERMISSION(ATTACH_FILES));
    struct permission_computation_input threader =
        me_with(VIEW | in_threads | PERMISSION(ATTACH_FILES));

    (void)unused;
    assert_true(permissions_in_channel(&sender, CHANNEL_TEXT, NULL, 0, true) == VIEW);
    assert_true(permissions_in_channel(&threader, CHANNEL_TEXT, NULL, 0, true) ==
                (VIEW | SEND | in_threads | PERMISSION(ATTACH_FILES)));
    assert_true(permissions_in_channel(&threader, CHANNEL_TEXT, NULL, 0, false) ==
                (VIEW | in_threads));
}

static void older_role_is_above_at_equal_positions(void **unused)
{
    (void)unused;
    assert_true(role_is_above(2, 50, 1, 10));
    assert_false(role_is_above(1, 10, 2, 50));
    assert_true(role_is_above(2, 10, 2, 50));
    assert_false(role_is_above(2, 50, 2, 10));
    assert_false(role_is_above(2, 10, 2, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explanation_matches_the_result_on_random_guilds),
        cmocka_unit_test(permissions_match_the_reference_implementation_on_random_guilds),
        cmocka_unit_test(guild_owner_has_every_permission_despite_denials),
        cmocka_unit_test(administrator_has_every_permission_even_when_timed_out),
        cmocka_unit_test(overwrite_cannot_grant_administrator),
        cmocka_unit_test(role_allows_override_the_denials_of_other_roles),
        cmocka_unit_test(member_overwrites_override_roles_which_override_everyone),
        cmocka_unit_test(overwrites_for_other_members_and_roles_are_ignored),
        cmocka_unit_test(timed_out_member_can_only_view_and_read_history),
        cmocka_unit_test(member_without_view_channel_has_no_channel_permissions),
        cmocka_unit_test(member_without_send_messages_cannot_mention_everyone_or_attach),
        cmocka_unit_test(member_without_connect_has_no_voice_or_manage_permissions),
        cmocka_unit_test(threads_require_send_messages_in_threads),
        cmocka_unit_test(older_role_is_above_at_equal_positions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
