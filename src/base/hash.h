/* Two hashes of bytes: one for tables in memory, one for what outlives the process.
 *
 * hash_keyed() is SipHash-1-3 under a key that the process draws from the system when it starts.
 * Whoever chooses the bytes (names of players, tables, attributes) does not know the key, so cannot
 * choose many that fall on one slot. Its values differ from one start to the next: they are never
 * stored, sent, or compared with those of another process, and nothing may depend on the order in
 * which a table holds its slots.
 *
 * hash_stable() gives the same value for ever. It is quick and spreads well, but anybody can make
 * bytes that collide (a block of 16 bytes whose second word is a constant of it forgets all that
 * came before): it places and names, it does not protect, and no table in memory is probed by it.
 */
#ifndef GT_BASE_HASH_H
#define GT_BASE_HASH_H

#include "base/bytes.h"

/* Any thread. `seed` sets users of the same bytes apart; it may be the hash of what came before. */
uint64_t hash_keyed(struct bytes b, uint64_t seed);

/* The same under a key of the caller's: what hash_keyed() is made of. */
struct hash_key {
    uint64_t k0, k1;
};
uint64_t hash_siphash13(struct hash_key key, struct bytes b);

/* Part of the data format (it places partitions in the store's order and names idempotency tokens)
 * and of what clients are handed (shards, iterators, page tokens, ETags): its values never change
 * for a given seed. Any thread. */
uint64_t hash_stable(struct bytes b, uint64_t seed);

/* hash_stable() under two seeds at once, for names of 128 bits: lane i is what seeds.at[i] gives.
 */
struct hash_two {
    uint64_t at[2];
};
struct hash_two hash_stable_two(struct bytes b, struct hash_two seeds);
/* The same of sixteen bytes a lane: a.at[i], then b.at[i], each with its lowest byte first. */
struct hash_two hash_stable_words(struct hash_two a, struct hash_two b, struct hash_two seeds);

#endif
