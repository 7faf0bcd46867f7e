/* news.h - channels whose messages are published to those that follow them.
 *
 * A follower is a webhook of type 2. A message that is published is copied to each, by a job in
 * steps, and so are its changes and its end: a channel may have very many followers. Begin with
 * copies.c. */
#ifndef PLATFORM_NEWS_NEWS_H
#define PLATFORM_NEWS_NEWS_H

#include "api/route.h"

extern const struct domain news_domain;

#endif
