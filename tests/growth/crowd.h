/* crowd.h - a world that has any number of rows of every kind. */
#ifndef TESTS_GROWTH_CROWD_H
#define TESTS_GROWTH_CROWD_H

#include "venues.h"

/* Ada owns the guild. The robot has a direct channel with everybody; the wanderer is a bot
 * in as many guilds. What is spare is made for each size, to be removed. */
struct crowd {
    struct world *world;
    struct client *ada, *robot, *wanderer;
    struct venue hall;
    char spare_guild[24], spare_channel[24], spare_role[24], message[24];
    char member[24], leaver[24], banned[24];
    int size;
};

struct crowd crowd_new(struct world *w);
/* Adds rows until there are so many of each kind. */
void crowd_grow(struct crowd *c, int size);

/* "/guilds/{guild}/roles" with the ids in it; lives as long as the world. */
const char *crowd_text(const struct crowd *c, const char *text);

#endif
