/* The words of a short text and its shingles: what simhash.py does with large integers, in one pass.
 */
#ifndef WALK_SHINGLES_H
#define WALK_SHINGLES_H

#include "majority.h"
#include "xxh3.h"

#define MOST_WORDS 1024
#define LONGEST_WORD 128

static inline int is_space(unsigned char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/* The fingerprint of the first *most* words of a text, 0 = not for me: fewer than *least* of them, or one is too long. */
static uint64_t shingled(const unsigned char *at, size_t n, size_t least, size_t most) {
    uint64_t lanes[MOST_WORDS];
    size_t count = 0, i = 0;
    if (most > MOST_WORDS || least < 3) return 0;
    while (count < most) {
        while (i < n && is_space(at[i])) i++;
        if (i == n) break;
        size_t start = i;
        while (i < n && !is_space(at[i])) i++;
        if (i - start > LONGEST_WORD) return 0;
        lanes[count++] = __builtin_bswap64(xxh3(at + start, i - start)); /* simhash.py reads the digest's bytes backwards */
    }
    if (count < least) return 0;
    for (size_t lane = 0; lane + 2 < count; lane++)
        lanes[lane] ^= (lanes[lane + 1] >> 21 | lanes[lane + 2] << 43) ^ (lanes[lane + 1] >> 51 | lanes[lane + 2] << 13);
    uint64_t found = majority((const unsigned char *)lanes, count - 2);
    return found ? found : 1;
}

#endif
