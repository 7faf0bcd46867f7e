/* join_requests.h - what newcomers of a guild are asked, and who lets them in.
 *
 * While a guild's form is on (feature MEMBER_VERIFICATION_GATE_ENABLED), people who join are
 * pending: they see the guild and may do nothing in it. Who accepts rules is in at once; other
 * answers wait for somebody who may kick. This folder owns forms and requests; that members are
 * pending belongs to members/, what they may not do to model/rights.c. Begin with form.c. */
#ifndef PLATFORM_JOIN_REQUESTS_JOIN_REQUESTS_H
#define PLATFORM_JOIN_REQUESTS_JOIN_REQUESTS_H

#include "api/route.h"

extern const struct domain join_requests_domain;

#endif
