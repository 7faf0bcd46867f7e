/* body_budget.h - how much memory the bodies of requests may take.
 *
 * One budget for all loops of a server. What one address or one account holds of it is
 * bounded too, so that nobody can use it up alone, and so is what all hold together who send
 * without an account. From any thread. */
#ifndef NET_BODY_BUDGET_H
#define NET_BODY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body_budget;

/* With one reference; total 0: without a bound. */
struct body_budget *body_budget_new(size_t total);
struct body_budget *body_budget_ref(struct body_budget *b);
void body_budget_unref(struct body_budget *b);

/* The most that one address or one account may hold: a longer body can never fit. */
size_t body_budget_share(const struct body_budget *b);
size_t body_budget_used(struct body_budget *b);

/* Whose bytes they are: the keys of an address and of an account; account 0: nobody's. */
struct body_owner {
    uint64_t address, account;
};

/* False: too many are held already, and none were added. */
bool body_budget_take(struct body_budget *b, const struct body_owner *who, size_t n);
void body_budget_give(struct body_budget *b, const struct body_owner *who, size_t n);

#endif
