/* multipart_head.h - what the head of one part says, for multipart.c. */
#ifndef NET_MULTIPART_HEAD_H
#define NET_MULTIPART_HEAD_H

#include "net/http/multipart.h"

/* Reads the header lines of a part, with the empty line that ends them, and
 * gives p its name, filename and content type, which part_clear frees. What was
 * set before an error stays set. */
enum err part_read_head(struct part *p, struct str head);
void part_clear(struct part *p);

#endif
