/* gateway_ledger.c - what a session is owed, by what its killed server noted. */
#include "unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_is_cut_where_it_stopped),
        cmocka_unit_test(a_number_that_was_being_written_does_not_count),
        cmocka_unit_test(what_may_be_incomplete_is_not_told),
        cmocka_unit_test(who_lives_is_known_by_its_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
