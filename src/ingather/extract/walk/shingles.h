/* The words of a short text and its shingles: what simhash.py does with large integers, in one pass.
 *
 * The hash of a word is XXH3 of 64 bits with seed 0 (Collet; xxhash's specification), for the lengths that words have.
 */
#ifndef WALK_SHINGLES_H
#define WALK_SHINGLES_H

#include "majority.h"

#define MOST_WORDS 1024
#define LONGEST_WORD 128

static const unsigned char XXH3_SECRET[] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90,
    0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d,
    0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28,
    0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e,
    0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b,
    0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
};

static inline uint64_t eight(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t four(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t folded_product(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t sixteen(const unsigned char *at, const unsigned char *secret) {
    return folded_product(eight(at) ^ eight(secret), eight(at + 8) ^ eight(secret + 8));
}

static inline uint64_t avalanche(uint64_t h) {
    h ^= h >> 37;
    h *= 0x165667919E3779F9ULL;
    return h ^ h >> 32;
}

/* XXH3 of 1 to LONGEST_WORD bytes. */
static uint64_t xxh3(const unsigned char *at, size_t n) {
    const unsigned char *secret = XXH3_SECRET;
    if (n <= 3) {
        uint64_t h = (uint64_t)at[0] << 16 | (uint64_t)at[n >> 1] << 24 | at[n - 1] | (uint64_t)n << 8;
        h ^= four(secret) ^ four(secret + 4);
        h ^= h >> 33;
        h *= 0xC2B2AE3D27D4EB4FULL;
        h ^= h >> 29;
        h *= 0x165667B19E3779F9ULL;
        return h ^ h >> 32;
    }
    if (n <= 8) {
        uint64_t h = (four(at + n - 4) + (four(at) << 32)) ^ (eight(secret + 8) ^ eight(secret + 16));
        h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40);
        h *= 0x9FB21C651E98DF25ULL;
        h ^= (h >> 35) + n;
        h *= 0x9FB21C651E98DF25ULL;
        return h ^ h >> 28;
    }
    if (n <= 16) {
        uint64_t low = eight(at) ^ (eight(secret + 24) ^ eight(secret + 32));
        uint64_t high = eight(at + n - 8) ^ (eight(secret + 40) ^ eight(secret + 48));
        return avalanche(n + __builtin_bswap64(low) + high + folded_product(low, high));
    }
    uint64_t sum = n * 0x9E3779B185EBCA87ULL;
    for (size_t pair = (n - 1) / 32 + 1; pair-- > 0;)
        sum += sixteen(at + 16 * pair, secret + 32 * pair) + sixteen(at + n - 16 * (pair + 1), secret + 32 * pair + 16);
    return avalanche(sum);
}

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
