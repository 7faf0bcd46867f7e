/* multipart_head.h - parser for the headers of one part of a multipart body (for multipart.c). */
#ifndef NET_MULTIPART_HEAD_H
#define NET_MULTIPART_HEAD_H

#include "net/http/multipart.h"

/* Parses the headers of a part, including the final empty line, and sets name, filename and
 * content_type, which multipart_part_free_fields frees. After an error, the fields that were
 * already set stay set. */
enum err multipart_parse_part_headers(struct multipart_part *p, struct str head);
void multipart_part_free_fields(struct multipart_part *p);

#endif
