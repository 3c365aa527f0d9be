/* XXH3 of 64 bits with seed 0 and its own secret (Collet; xxhash's specification): what the Python package xxhash calls xxh3_64. */
#ifndef WALK_XXH3_H
#define WALK_XXH3_H

#include <stdint.h>
#include <string.h>

static const unsigned char XXH3_SECRET[] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90,
    0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d,
    0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28,
    0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e,
    0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b,
    0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5,
    0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49,
    0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0,
    0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
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

static inline uint64_t short_avalanche(uint64_t h) {
    h ^= h >> 33;
    h *= 0xC2B2AE3D27D4EB4FULL;
    h ^= h >> 29;
    h *= 0x165667B19E3779F9ULL;
    return h ^ h >> 32;
}

static const uint64_t PRIME_1 = 0x9E3779B185EBCA87ULL;

/* XXH3 of 129 to 240 bytes. */
static uint64_t xxh3_middle(const unsigned char *at, size_t n) {
    uint64_t sum = n * PRIME_1;
    for (size_t i = 0; i < 8; i++) sum += sixteen(at + 16 * i, XXH3_SECRET + 16 * i);
    sum = avalanche(sum);
    for (size_t i = 8; i < n / 16; i++) sum += sixteen(at + 16 * i, XXH3_SECRET + 16 * (i - 8) + 3);
    return avalanche(sum + sixteen(at + n - 16, XXH3_SECRET + 119));
}

static inline void add_stripe(uint64_t *sums, const unsigned char *at, const unsigned char *secret) {
    for (size_t i = 0; i < 8; i++) {
        uint64_t value = eight(at + 8 * i), mixed = value ^ eight(secret + 8 * i);
        sums[i ^ 1] += value;
        sums[i] += (mixed & 0xFFFFFFFF) * (mixed >> 32);
    }
}

/* XXH3 of more than 240 bytes: stripes of 64, sixteen of them a block. */
static uint64_t xxh3_long(const unsigned char *at, size_t n) {
    uint64_t sums[8] = {0xC2B2AE3D, PRIME_1, 0xC2B2AE3D27D4EB4FULL, 0x165667B19E3779F9ULL, 0x85EBCA77C2B2AE63ULL, 0x85EBCA77,
                        0x27D4EB2F165667C5ULL, 0x9E3779B1};
    const unsigned char *last = at + n - 64, *end = XXH3_SECRET + sizeof XXH3_SECRET - 64;
    for (size_t stripes = (n - 1) / 64, i = 0; i < stripes; i++) {
        add_stripe(sums, at + 64 * i, XXH3_SECRET + 8 * (i % 16));
        if (i % 16 < 15 || i / 16 >= (n - 1) / 1024) continue;
        for (size_t lane = 0; lane < 8; lane++) {
            sums[lane] ^= sums[lane] >> 47 ^ eight(end + 8 * lane);
            sums[lane] *= 0x9E3779B1;
        }
    }
    add_stripe(sums, last, end - 7);
    uint64_t sum = n * PRIME_1;
    for (size_t i = 0; i < 4; i++)
        sum += folded_product(sums[2 * i] ^ eight(XXH3_SECRET + 11 + 16 * i), sums[2 * i + 1] ^ eight(XXH3_SECRET + 19 + 16 * i));
    return avalanche(sum);
}

static uint64_t xxh3(const unsigned char *at, size_t n) {
    const unsigned char *secret = XXH3_SECRET;
    if (n > 240) return xxh3_long(at, n);
    if (n > 128) return xxh3_middle(at, n);
    if (n == 0) return short_avalanche(eight(secret + 56) ^ eight(secret + 64));
    if (n <= 3) {
        uint64_t h = (uint64_t)at[0] << 16 | (uint64_t)at[n >> 1] << 24 | at[n - 1] | (uint64_t)n << 8;
        return short_avalanche(h ^ four(secret) ^ four(secret + 4));
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
    uint64_t sum = n * PRIME_1;
    for (size_t pair = (n - 1) / 32 + 1; pair-- > 0;)
        sum += sixteen(at + 16 * pair, secret + 32 * pair) + sixteen(at + n - 16 * (pair + 1), secret + 32 * pair + 16);
    return avalanche(sum);
}

#endif
