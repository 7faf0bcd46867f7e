/* etf_tags.h - the ETF tags that the server supports. */
#ifndef GATEWAY_WIRE_ETF_TAGS_H
#define GATEWAY_WIRE_ETF_TAGS_H

enum etf_tag {
    ETF_NEW_FLOAT = 70,
    ETF_SMALL_INT = 97,
    ETF_INT = 98,
    ETF_FLOAT = 99, /* FLOAT_EXT: the number as decimal text */
    ETF_ATOM = 100,
    ETF_SMALL_TUPLE = 104,
    ETF_NIL = 106,
    ETF_STRING = 107, /* STRING_EXT: a list of bytes */
    ETF_LIST = 108,
    ETF_BINARY = 109,
    ETF_SMALL_BIG = 110,
    ETF_SMALL_ATOM = 115,
    ETF_MAP = 116,
    ETF_ATOM_UTF8 = 118,
    ETF_SMALL_ATOM_UTF8 = 119,
};

#endif
