/* crowd.h - a world that has any number of rows of every kind. */
#ifndef TESTS_GROWTH_CROWD_H
#define TESTS_GROWTH_CROWD_H

#include "test_guild.h"

enum {
    CROWD_ROUNDS = 5,     /* how often everything can be asked */
    CROWD_SPAMMERS = 200, /* of a bulk ban: more cannot be banned at once */
};

/* What is made for each size and each round, to be removed. */
struct crowd_spare {
    char guild[24], channel[24], role[24], leaver[24];
    char spammers[CROWD_SPAMMERS * 12]; /* '7','8',… */
};

/* Ada owns the guild. The robot has a direct channel with everybody; the wanderer is a bot
 * in as many guilds. */
struct crowd {
    struct world *world;
    struct client *ada, *robot, *wanderer;
    struct test_guild hall;
    char message[24], member[24], banned[24];
    struct crowd_spare spares[CROWD_ROUNDS];
    int size;
    int round;  /* of asking: chooses the spare that is removed */
    int stacks; /* of messages that were added */
};

struct crowd crowd_new(struct world *w);
/* Adds rows until there are so many of each kind. */
void crowd_grow(struct crowd *c, int size);

/* "/guilds/{guild}/roles" with the ids in it; lives as long as the world. */
const char *crowd_text(const struct crowd *c, const char *text);

#endif
