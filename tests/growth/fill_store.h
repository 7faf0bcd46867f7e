/* fill_store.h - a test world with any number of rows of every kind. */
#ifndef TESTS_GROWTH_FILL_STORE_H
#define TESTS_GROWTH_FILL_STORE_H

#include "test_guild.h"

enum {
    CROWD_ROUNDS = 5,     /* number of times that each request can be sent */
    CROWD_SPAMMERS = 200, /* maximum number of members in one bulk ban */
};

/* Objects of one size and round that a request deletes. */
struct crowd_spare {
    char guild[24], channel[24], role[24], leaver[24];
    char spammers[CROWD_SPAMMERS * 12]; /* '7','8',… */
};

/* Ada owns the guild. The robot has a direct channel with every user; the wanderer is a bot in
 * as many guilds. */
struct crowd {
    struct world *world;
    struct client *ada, *robot, *wanderer;
    struct test_guild hall;
    char message[24], member[24], banned[24];
    struct crowd_spare spares[CROWD_ROUNDS];
    int size;
    int round;  /* number of the current round: selects the objects to delete */
    int stacks; /* number of insertions of messages */
};

struct crowd crowd_new(struct world *w);
/* Inserts rows until there are `size` of each kind. */
void crowd_grow(struct crowd *c, int size);

/* Returns a path such as "/guilds/{guild}/roles" with the ids filled in; it lives as long as the
 * world. */
const char *crowd_text(const struct crowd *c, const char *text);

#endif
