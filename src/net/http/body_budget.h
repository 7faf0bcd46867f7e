/* body_budget.h - memory limit for request bodies.
 *
 * All loops of a server share one budget. Each address, each account, and all unauthenticated
 * clients together may use only a part of the budget, so that no single client can exhaust it. All
 * functions may be called from any thread. */
#ifndef NET_BODY_BUDGET_H
#define NET_BODY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body_budget;

/* Creates a budget of `total` bytes with one reference. If total is 0, there is no limit. */
struct body_budget *body_budget_new(size_t total);
struct body_budget *body_budget_ref(struct body_budget *b);
void body_budget_unref(struct body_budget *b);

/* Returns how many bytes one address or one account may use at most. A longer body is always
 * refused. */
size_t body_budget_limit_per_owner(const struct body_budget *b);
size_t body_budget_get_reserved_bytes(struct body_budget *b);

/* The client that sends a body: key of its address, and its account id (0 if unauthenticated). */
struct body_budget_owner {
    uint64_t address, account;
};

/* Reserves n bytes for a client. If this would exceed a limit, returns false and reserves
 * nothing. */
bool body_budget_reserve(struct body_budget *b, const struct body_budget_owner *owner, size_t n);
void body_budget_release(struct body_budget *b, const struct body_budget_owner *owner, size_t n);

#endif
