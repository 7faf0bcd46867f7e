/* gateway_ledger.c - what a session is owed, by what its killed server noted. */
#include "unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/sessions/ledger_copies.h"
#include "gateway/sessions/keeper.h"
#include "gateway/sessions/ledger.h"

/* --- the rule, against a session that remembers everything ---------------------------- */

enum { LONGEST = 2000 };

/* What a session was told: the number of an event, or TOLD_FLEETING or TOLD_ANSWER. */
struct memory {
    uint64_t told[LONGEST];
    uint64_t seq;      /* of the last */
    uint64_t position; /* of the hub */
};

static void remember(struct memory *m, struct ledger_slot *slot, uint64_t what)
{
    m->told[++m->seq] = what;
    ledger_note(slot, m->seq, what);
}

/* Whether nothing that was read comes after `seen`, and nothing that was not read before it. */
static void check_cut(const struct memory *m, uint64_t seq, uint64_t seen)
{
    for (uint64_t i = 1; i <= m->seq; i++)
        if (m->told[i] > TOLD_ANSWER)
            assert_true(i <= seq ? m->told[i] <= seen : m->told[i] > seen);
}

static bool has_answer_after(const struct memory *m, uint64_t seq)
{
    for (uint64_t i = seq + 1; i <= m->seq; i++)
        if (m->told[i] == TOLD_ANSWER)
            return true;
    return false;
}

static void check_all_readers(const struct memory *m, const struct ledger_slot *slot)
{
    uint64_t least = m->seq < LEDGER_TOLD ? 0 : m->seq - LEDGER_TOLD, seen;

    for (uint64_t seq = least; seq <= m->seq; seq++) {
        bool known = ledger_slot_seen(slot, m->position, seq, &seen);

        assert_int_equal(known, m->seq - seq < LEDGER_TOLD && !has_answer_after(m, seq));
        if (!known)
            continue;
        check_cut(m, seq, seen);
        /* Nothing that the hub has been through is read again for who has read everything. */
        if (seq == m->seq)
            assert_true(seen >= m->position);
    }
    assert_false(ledger_slot_seen(slot, m->position, m->seq + 1, &seen));
}

static void every_reader_is_cut_where_it_stopped(void **state)
{
    (void)state;
    static struct memory m;
    struct ledger_slot slot = { .hub = 0 };

    srand(7);
    for (uint64_t number = 1000; m.seq < LONGEST - 2; number += 1 + (uint64_t)(rand() % 3)) {
        int what = rand() % 100;

        if (what < 30)
            remember(&m, &slot, number);
        else if (what < 50)
            remember(&m, &slot, TOLD_FLEETING);
        else if (what == 50)
            remember(&m, &slot, TOLD_ANSWER);
        if (rand() % 8) /* else it is killed between the event and the end of it */
            m.position = number;
        if (rand() % 40 == 0)
            check_all_readers(&m, &slot);
    }
}

static void a_number_that_was_being_written_does_not_count(void **state)
{
    (void)state;
    static struct memory m;
    struct ledger_slot slot = { .hub = 0 };

    for (uint64_t number = 1000; number < 1600; number++) {
        remember(&m, &slot, number % 5 ? TOLD_FLEETING : number);
        m.position = number;
        struct ledger_slot killed = slot;
        killed.told[(m.seq + 1) % LEDGER_TOLD] = number + 1;
        check_all_readers(&m, &killed);
    }
}

static void what_may_be_incomplete_is_not_told(void **state)
{
    (void)state;
    struct ledger_slot good = { .hub = 0, .first = 3, .seq = 3, .base = 70 }, bad;
    uint64_t seen = 0;

    ledger_note(&good, 4, 80);
    assert_true(ledger_slot_seen(&good, 75, 3, &seen));
    assert_int_equal(seen, 79);
    assert_true(ledger_slot_seen(&good, 75, 4, &seen));
    assert_int_equal(seen, 80);
    assert_true(ledger_slot_seen(&good, 95, 4, &seen));
    assert_int_equal(seen, 95);
    assert_false(ledger_slot_seen(&good, 95, 2, &seen)); /* from before it was noted */
    bad = good;
    bad.torn = 1;
    assert_false(ledger_slot_seen(&bad, 95, 4, &seen));
    bad = good;
    bad.errands = 1;
    assert_false(ledger_slot_seen(&bad, 95, 4, &seen));
    bad = good;
    bad.hub = LEDGER_AWAY; /* between two loops: no hub speaks for it */
    assert_true(ledger_slot_seen(&bad, 95, 4, &seen));
    assert_int_equal(seen, 80);
}

/* --- files ---------------------------------------------------------------------------- */

static void who_lives_is_known_by_its_lock(void **state)
{
    (void)state;
    char folder[] = "/tmp/guildhall-ledger.XXXXXX";
    struct arena *arena = arena_new();
    struct ledger_entry entry;
    struct list kept = { 0 };

    assert_non_null(mkdtemp(folder));
    assert_int_equal(ledger_find(folder, 5, 1, 0, arena, &entry), LEDGER_UNKNOWN);
    struct ledger *own = ledger_open(folder, 5);
    assert_non_null(own);
    assert_int_equal(ledger_find(folder, 5, 1, 0, arena, &entry), LEDGER_LIVES);
    pid_t child = fork();
    if (!child)
        _exit(!ledger_open(folder, 6)); /* as one that is killed: nothing is closed */
    waitpid(child, NULL, 0);
    assert_int_equal(ledger_find(folder, 6, 1, 0, arena, &entry), LEDGER_GONE);
    ledgers_tidy(folder, INT64_C(1) << 50, arena, &kept);
    assert_int_equal(kept.count, 1); /* the other was missed long ago */
    assert_int_equal(ledger_find(folder, 6, 1, 0, arena, &entry), LEDGER_UNKNOWN);
    ledger_close(own);
    assert_int_equal(rmdir(folder), 0);
    arena_free(arena);
}

/* --- what another server keeps -------------------------------------------------------- */

enum { SENDER = 7, NUMBER = 42 };

/* A session that is told things, and a server that hears of most of that. */
struct kept_scene {
    struct memory m;
    struct ledger_slot slot;
    struct keeper *keeper;
    struct buf out; /* records of the next message */
    uint64_t messages, copied;
    uint64_t owed; /* an event that the session is told later than its hub has passed it; or 0 */
    bool whole, was_lost;
};

static void scene_hear(struct kept_scene *s, bool is_lost)
{
    struct keeper_reply reply = { 0 };
    struct buf message;

    buf_init(&reply.bytes, 64);
    buf_init(&message, 1 << 20);
    ledger_copies_write_head(&message, SENDER, 0, ++s->messages, s->m.position);
    buf_add_str(&message, buf_str(&s->out));
    buf_reset(&s->out);
    if (!is_lost)
        keeper_hear(s->keeper, buf_str(&message), &reply);
    if (!is_lost) /* who misses one says so, with the next */
        assert_int_equal(reply.to, s->was_lost ? SENDER : 0);
    s->was_lost = is_lost;
    buf_clear(&reply.bytes);
    buf_clear(&message);
}

static void scene_copy(struct kept_scene *s)
{
    if (s->whole || !ledger_copies_write_told(&s->out, NUMBER, &s->slot, s->copied))
        ledger_copies_write_whole(&s->out, NUMBER, &s->slot, s->m.position);
    s->copied = s->m.seq;
    s->whole = false;
}

static void scene_leave_hub(struct kept_scene *s, uint64_t owed)
{
    s->slot.base = s->m.position > s->slot.base ? s->m.position : s->slot.base;
    s->slot.hub = LEDGER_AWAY;
    s->whole = true;
    scene_copy(s);
    s->owed = owed;
}

static void scene_return(struct kept_scene *s)
{
    remember(&s->m, &s->slot, s->owed);
    s->owed = 0;
    s->slot.base = s->m.position;
    s->slot.hub = 0;
    s->whole = true;
}

static unsigned scene_check(struct kept_scene *s, struct arena *arena)
{
    struct ledger_entry entry;
    unsigned known = 0;

    for (uint64_t back = 0; back < 20 && back <= s->m.seq; back++) {
        uint64_t seq = s->m.seq - back;

        if (!keeper_find(s->keeper, SENDER, NUMBER, seq, arena, &entry))
            continue;
        known++;
        check_cut(&s->m, seq, entry.seen);
        assert_true(!s->owed || entry.seen < s->owed);
    }
    assert_false(keeper_find(s->keeper, SENDER + 1, NUMBER, s->m.seq, arena, &entry));
    assert_false(keeper_find(s->keeper, SENDER, NUMBER + 1, s->m.seq, arena, &entry));
    return known;
}

static void scene_step(struct kept_scene *s, uint64_t number)
{
    int what = rand() % 100;

    if (s->owed && what < 30)
        scene_return(s);
    else if (!s->owed && what < 5)
        scene_leave_hub(s, number);
    else if (!s->owed && what < 60)
        remember(&s->m, &s->slot, number);
    else if (what < 70)
        remember(&s->m, &s->slot, TOLD_FLEETING);
    s->m.position = number;
    s->whole |= rand() % 20 == 0;
    scene_copy(s);
}

static void what_is_kept_is_exact_whatever_is_lost_on_the_way(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct kept_scene *s = calloc(1, sizeof *s);
        struct arena *arena = arena_new();
        unsigned known = 0;
        uint64_t number = 1000;

        srand(seed);
        s->keeper = keeper_new();
        s->whole = true;
        buf_init(&s->out, 1 << 20);
        while (s->m.seq < LONGEST - 2) {
            scene_step(s, number);
            number += 1 + (uint64_t)(rand() % 3);
            scene_hear(s, rand() % 10 == 0);
            known += scene_check(s, arena);
            arena_reset(arena);
        }
        assert_true(known > LONGEST);
        ledger_copies_write_gone(&s->out, NUMBER);
        scene_hear(s, false);
        assert_int_equal(keeper_count(s->keeper), 0);
        buf_clear(&s->out);
        keeper_free(s->keeper);
        arena_free(arena);
        free(s);
    }
}

static void who_keeps_nothing_is_lent_it(void **state)
{
    (void)state;
    struct kept_scene s = { .whole = true };
    struct keeper *other = keeper_new();
    struct arena *arena = arena_new();
    struct keeper_reply reply = { 0 }, none = { 0 };
    struct ledger_entry entry;
    struct buf question;

    s.keeper = keeper_new();
    buf_init(&s.out, 1 << 20);
    buf_init(&reply.bytes, 1 << 20);
    buf_init(&question, 1 << 20);
    for (uint64_t number = 1000; number < 1040; number++) {
        remember(&s.m, &s.slot, number);
        s.m.position = number;
        scene_copy(&s);
        scene_hear(&s, false);
    }
    assert_int_equal(keeper_count(s.keeper), 1);
    keeper_write_question(&question, SENDER, NUMBER, 9);
    keeper_hear(other, buf_str(&question), &none);
    assert_int_equal(none.to, 0); /* it has nothing to lend */
    keeper_hear(s.keeper, buf_str(&question), &reply);
    assert_int_equal(reply.to, 9);
    keeper_hear(other, buf_str(&reply.bytes), &none);
    assert_int_equal(none.number, NUMBER);
    assert_true(keeper_find(other, SENDER, NUMBER, 30, arena, &entry));
    assert_int_equal(entry.seen, 1029);
    assert_true(keeper_find(other, SENDER, NUMBER, 40, arena, &entry));
    assert_int_equal(entry.seen, 1039);
    assert_false(keeper_find(other, SENDER, NUMBER, 41, arena, &entry));
    for (size_t n = 0; n < reply.bytes.n; n += 7) /* what is cut short is no answer */
        keeper_hear(other, str_slice(reply.bytes.p, n), &none);
    keeper_tidy(other, INT64_C(1) << 50);
    assert_int_equal(keeper_count(other), 0);
    buf_clear(&question);
    buf_clear(&reply.bytes);
    buf_clear(&s.out);
    keeper_free(s.keeper);
    keeper_free(other);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_is_cut_where_it_stopped),
        cmocka_unit_test(a_number_that_was_being_written_does_not_count),
        cmocka_unit_test(what_may_be_incomplete_is_not_told),
        cmocka_unit_test(who_lives_is_known_by_its_lock),
        cmocka_unit_test(what_is_kept_is_exact_whatever_is_lost_on_the_way),
        cmocka_unit_test(who_keeps_nothing_is_lent_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
