/* model_rights.c - what a member may do: named examples for each step, and random guilds
 * against a second implementation that is slow and obvious. */
#include "unit.h"

#include <string.h>

#include "model/permissions/rights.h"

enum { GUILD = 1000, ME = 7, MANY = 200000, MOST_ROLES = 6, MOST_OVERWRITES = 12, BITS = 64 };

/* --- the second implementation: a flag for each right, step by step ------------------- */

struct slow_role {
    snowflake id;
    bool has[BITS];
};
struct slow_overwrite {
    snowflake id;
    bool for_role; /* else for a member */
    bool allow[BITS], deny[BITS];
};
struct slow_channel {
    int64_t type;
    struct slow_overwrite overwrites[MOST_OVERWRITES];
    size_t overwrite_count;
    bool thread; /* of this channel */
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

/* Rights that mean something in a channel. */
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

/* Steps 1 to 3. True: the member has all rights. */
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

/* Step 8. */
static void slow_restrain(const struct slow_guild *g, const struct slow_member *m, bool *p)
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
    slow_restrain(g, m, p);
    return pack(p);
}

/* Steps 5 and 7: one overwrite after the other. */
static void slow_overwrite(const struct slow_overwrite *o, bool *p)
{
    for (int b = 0; b < BITS; b++) {
        if (o->deny[b])
            p[b] = false;
        if (o->allow[b])
            p[b] = true;
    }
}

/* Step 6: everything that any role denies goes, then everything that any allows comes. */
static void slow_overwrite_by_roles(const struct slow_guild *g, const struct slow_member *m,
                                    const struct slow_channel *c, bool *p)
{
    for (int b = 0; b < BITS; b++) {
        bool denied = false, allowed = false;

        for (size_t i = 0; i < c->overwrite_count; i++) {
            const struct slow_overwrite *o = &c->overwrites[i];

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

/* Steps 9 and 10, with the right that counts as sending here (step 11). */
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
            slow_overwrite(&c->overwrites[i], p);
    slow_overwrite_by_roles(g, m, c, p);
    for (size_t i = 0; i < c->overwrite_count; i++)
        if (!c->overwrites[i].for_role && c->overwrites[i].id == m->id)
            slow_overwrite(&c->overwrites[i], p);
    p[BIT(ADMINISTRATOR)] = false; /* no channel makes an administrator */
    slow_restrain(g, m, p);
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

/* Dense, thin, single and empty sets; administrators now and then. */
static uint64_t random_rights(void)
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

static void random_guild(struct slow_guild *g, struct slow_member *m)
{
    *g = (struct slow_guild){ .id = GUILD, .owner_id = below(15) ? 99 : ME, .now = 1000 };
    *m = (struct slow_member){ .id = ME,
                               .quarantined = below(20) == 0,
                               .unverified = below(20) == 0 };
    m->timed_out_until = below(6) ? 0 : 999 + below(3);
    g->role_count = 1 + below(MOST_ROLES + 1);
    for (size_t i = 0; i < g->role_count; i++) {
        g->roles[i].id = GUILD + i;
        unpack(random_rights(), g->roles[i].has);
        if (i && below(2))
            m->roles[m->role_count++] = GUILD + i;
    }
}

static void random_channel(struct slow_channel *c)
{
    static const int64_t types[] = { CHANNEL_TEXT, CHANNEL_VOICE,    CHANNEL_STAGE,
                                     CHANNEL_NEWS, CHANNEL_CATEGORY, CHANNEL_FORUM };
    size_t wanted = below(MOST_OVERWRITES);

    *c = (struct slow_channel){ .type = types[below(6)], .thread = below(3) == 0 };
    for (size_t i = 0; i < wanted; i++) {
        struct slow_overwrite o = { .for_role = below(4) != 0 };
        bool there = false;

        o.id = o.for_role ? GUILD + below(MOST_ROLES + 2) : ME + below(2);
        unpack(random_rights(), o.allow);
        unpack(random_rights(), o.deny);
        for (size_t k = 0; k < c->overwrite_count; k++)
            there = there || c->overwrites[k].id == o.id;
        if (!there)
            c->overwrites[c->overwrite_count++] = o;
    }
}

/* The same member, as the real implementation takes it. */
static struct rights_of member_of(const struct slow_guild *g, const struct slow_member *m)
{
    struct rights_of who = {
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

static uint64_t fast_in_channel(const struct rights_of *who, const struct slow_channel *c)
{
    struct overwrite overwrites[MOST_OVERWRITES];

    for (size_t i = 0; i < c->overwrite_count; i++)
        overwrites[i] = (struct overwrite){
            .id = c->overwrites[i].id,
            .type = c->overwrites[i].for_role ? OVERWRITE_ROLE : OVERWRITE_MEMBER,
            .allow = pack(c->overwrites[i].allow),
            .deny = pack(c->overwrites[i].deny),
        };
    return rights_in_channel(who, c->type, overwrites, c->overwrite_count, c->thread);
}

static void both_implementations_agree_on_random_guilds(void **unused)
{
    struct slow_guild g;
    struct slow_member m;
    struct slow_channel c;
    unsigned all = 0, none = 0;

    (void)unused;
    for (int i = 0; i < MANY; i++) {
        random_guild(&g, &m);
        random_channel(&c);
        struct rights_of who = member_of(&g, &m);
        uint64_t expected = slow_in_channel(&g, &m, &c), got = fast_in_channel(&who, &c);

        if (got != expected || rights_in_guild(&who) != slow_in_guild(&g, &m))
            fail_msg("case %d: %llx instead of %llx", i, (unsigned long long)got,
                     (unsigned long long)expected);
        all += expected == PERMISSIONS_ALL;
        none += expected == 0;
    }
    /* The cases are neither all too easy nor all the same. */
    assert_in_range(all, MANY / 20, MANY / 2);
    assert_in_range(none, MANY / 100, MANY / 2);
}

/* --- named examples ------------------------------------------------------------------- */

static const snowflake my_roles[] = { GUILD + 1, GUILD + 2 };

static struct rights_of me_with(uint64_t base)
{
    return (struct rights_of){
        .guild_id = GUILD, .user_id = ME, .base = base, .roles = my_roles, .role_count = 2
    };
}

#define ALLOW(target, kind, rights) ((struct overwrite){ (target), (kind), (rights), 0 })
#define DENY(target, kind, rights)  ((struct overwrite){ (target), (kind), 0, (rights) })
#define IN(who, type, thread, ...)                                \
    rights_in_channel(                                            \
        (who), (type), (const struct overwrite[]){ __VA_ARGS__ }, \
        sizeof((const struct overwrite[]){ __VA_ARGS__ }) / sizeof(struct overwrite), (thread))

static const uint64_t VIEW = PERMISSION(VIEW_CHANNEL), SEND = PERMISSION(SEND_MESSAGES);

static void an_owner_has_every_right_whatever_is_denied(void **unused)
{
    struct rights_of who = me_with(0);

    (void)unused;
    who.owner = who.timed_out = who.quarantined = true;
    assert_true(rights_in_guild(&who) == PERMISSIONS_ALL);
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD, OVERWRITE_ROLE, PERMISSIONS_ALL),
                   DENY(ME, OVERWRITE_MEMBER, PERMISSIONS_ALL)) == PERMISSIONS_ALL);
}

static void an_administrator_has_every_right_even_when_timed_out(void **unused)
{
    struct rights_of who = me_with(PERMISSION(ADMINISTRATOR));

    (void)unused;
    who.timed_out = true;
    assert_true(rights_in_guild(&who) == PERMISSIONS_ALL);
    assert_true(IN(&who, CHANNEL_VOICE, true, DENY(ME, OVERWRITE_MEMBER, PERMISSIONS_ALL)) ==
                PERMISSIONS_ALL);
}

static void an_overwrite_makes_nobody_an_administrator(void **unused)
{
    struct rights_of who = me_with(VIEW | SEND);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false,
                   ALLOW(ME, OVERWRITE_MEMBER, PERMISSION(ADMINISTRATOR)),
                   ALLOW(GUILD, OVERWRITE_ROLE, PERMISSION(ADMINISTRATOR))) == (VIEW | SEND));
}

static void denials_of_all_roles_come_before_what_any_allows(void **unused)
{
    struct rights_of who = me_with(VIEW | SEND);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(GUILD + 1, OVERWRITE_ROLE, SEND),
                   DENY(GUILD + 2, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD + 1, OVERWRITE_ROLE, SEND),
                   ALLOW(GUILD + 2, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD + 1, OVERWRITE_ROLE, SEND)) == VIEW);
}

static void roles_go_over_everyone_and_the_member_over_roles(void **unused)
{
    struct rights_of who = me_with(VIEW | SEND);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(GUILD + 1, OVERWRITE_ROLE, SEND),
                   DENY(GUILD, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(ME, OVERWRITE_MEMBER, SEND),
                   ALLOW(GUILD + 1, OVERWRITE_ROLE, SEND)) == VIEW);
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(ME, OVERWRITE_MEMBER, SEND),
                   DENY(GUILD + 1, OVERWRITE_ROLE, SEND)) == (VIEW | SEND));
}

static void overwrites_of_others_mean_nothing(void **unused)
{
    struct rights_of who = me_with(VIEW);

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD + 3, OVERWRITE_ROLE, VIEW),
                   DENY(ME + 1, OVERWRITE_MEMBER, VIEW), DENY(ME, OVERWRITE_ROLE, VIEW),
                   DENY(GUILD + 1, OVERWRITE_MEMBER, VIEW)) == VIEW);
}

static void who_is_timed_out_sees_and_does_nothing_else(void **unused)
{
    struct rights_of who = me_with(PERMISSIONS_ALL & ~PERMISSION(ADMINISTRATOR));
    uint64_t seeing = VIEW | PERMISSION(READ_MESSAGE_HISTORY);

    (void)unused;
    who.timed_out = true;
    assert_true(rights_in_guild(&who) == seeing);
    assert_true(IN(&who, CHANNEL_TEXT, false, ALLOW(ME, OVERWRITE_MEMBER, SEND)) == seeing);
    who.timed_out = false;
    who.quarantined = true;
    assert_true(rights_in_guild(&who) == (seeing | PERMISSION(CHANGE_NICKNAME)));
}

static void without_a_view_no_right_in_the_channel_is_left(void **unused)
{
    struct rights_of who = me_with(PERMISSIONS_DEFAULT | PERMISSION(MANAGE_GUILD));

    (void)unused;
    assert_true(IN(&who, CHANNEL_TEXT, false, DENY(GUILD, OVERWRITE_ROLE, VIEW)) ==
                (PERMISSION(MANAGE_GUILD) | PERMISSION(CHANGE_NICKNAME)));
}

static void who_cannot_send_cannot_mention_everyone_or_attach(void **unused)
{
    uint64_t with = VIEW | PERMISSION(ADD_REACTIONS),
             more = PERMISSION(MENTION_EVERYONE) | PERMISSION(SEND_TTS_MESSAGES) |
                    PERMISSION(ATTACH_FILES) | PERMISSION(EMBED_LINKS);
    struct rights_of who = me_with(with | more);

    (void)unused;
    assert_true(rights_in_channel(&who, CHANNEL_TEXT, NULL, 0, false) == with);
    assert_true(rights_in_channel(&who, CHANNEL_VOICE, NULL, 0, false) == (with | more));
    who.base |= SEND;
    assert_true(rights_in_channel(&who, CHANNEL_TEXT, NULL, 0, false) == (with | more | SEND));
}

static void who_cannot_connect_has_no_voice_and_does_not_manage(void **unused)
{
    uint64_t voice = PERMISSION(SPEAK) | PERMISSION(STREAM) | PERMISSION(MOVE_MEMBERS) |
                     PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES);
    struct rights_of who = me_with(VIEW | SEND | voice);

    (void)unused;
    assert_true(rights_in_channel(&who, CHANNEL_VOICE, NULL, 0, false) == (VIEW | SEND));
    assert_true(rights_in_channel(&who, CHANNEL_STAGE, NULL, 0, false) == (VIEW | SEND));
    assert_true(rights_in_channel(&who, CHANNEL_TEXT, NULL, 0, false) == (VIEW | SEND | voice));
    who.base |= PERMISSION(CONNECT);
    assert_true(rights_in_channel(&who, CHANNEL_VOICE, NULL, 0, false) == who.base);
}

static void in_threads_another_right_is_the_one_to_send(void **unused)
{
    uint64_t in_threads = PERMISSION(SEND_MESSAGES_IN_THREADS);
    struct rights_of sender = me_with(VIEW | SEND | PERMISSION(ATTACH_FILES));
    struct rights_of threader = me_with(VIEW | in_threads | PERMISSION(ATTACH_FILES));

    (void)unused;
    assert_true(rights_in_channel(&sender, CHANNEL_TEXT, NULL, 0, true) == VIEW);
    assert_true(rights_in_channel(&threader, CHANNEL_TEXT, NULL, 0, true) ==
                (VIEW | SEND | in_threads | PERMISSION(ATTACH_FILES)));
    assert_true(rights_in_channel(&threader, CHANNEL_TEXT, NULL, 0, false) == (VIEW | in_threads));
}

static void at_equal_positions_the_older_role_is_above(void **unused)
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
        cmocka_unit_test(both_implementations_agree_on_random_guilds),
        cmocka_unit_test(an_owner_has_every_right_whatever_is_denied),
        cmocka_unit_test(an_administrator_has_every_right_even_when_timed_out),
        cmocka_unit_test(an_overwrite_makes_nobody_an_administrator),
        cmocka_unit_test(denials_of_all_roles_come_before_what_any_allows),
        cmocka_unit_test(roles_go_over_everyone_and_the_member_over_roles),
        cmocka_unit_test(overwrites_of_others_mean_nothing),
        cmocka_unit_test(who_is_timed_out_sees_and_does_nothing_else),
        cmocka_unit_test(without_a_view_no_right_in_the_channel_is_left),
        cmocka_unit_test(who_cannot_send_cannot_mention_everyone_or_attach),
        cmocka_unit_test(who_cannot_connect_has_no_voice_and_does_not_manage),
        cmocka_unit_test(in_threads_another_right_is_the_one_to_send),
        cmocka_unit_test(at_equal_positions_the_older_role_is_above),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
