/* fill_store.h - a test world with any number of rows of every kind. */
#ifndef TESTS_GROWTH_FILL_STORE_H
#define TESTS_GROWTH_FILL_STORE_H

#include "test_guild.h"

enum {
    GROUP_ROUNDS = 5,     /* number of times that each request can be sent */
    GROUP_SPAMMERS = 200, /* maximum number of members in one bulk ban */
};

/* Objects of one size and round that a request deletes. */
struct group_spare {
    char guild[24], channel[24], role[24], leaver[24];
    char spammers[GROUP_SPAMMERS * 12]; /* '7','8',… */
};

/* Ada owns the guild. The robot has a direct channel with every user; the wanderer is a bot in
 * as many guilds. */
struct group {
    struct world *world;
    struct client *ada, *robot, *wanderer;
    struct test_guild hall;
    char message[24], member[24], banned[24];
    struct group_spare spares[GROUP_ROUNDS];
    int size;
    int round;  /* number of the current round: selects the objects to delete */
    int stacks; /* number of insertions of messages */
};

struct group group_new(struct world *w);
/* Inserts rows until there are `size` of each kind. */
void group_grow(struct group *c, int size);

/* Returns a path such as "/guilds/{guild}/roles" with the ids filled in; it lives as long as the
 * world. */
const char *group_text(const struct group *c, const char *text);

#endif
