/*
 * defaults.h: the defaults of arguments.
 *
 * The library, its packages and the command take their defaults from here.  SQL's DEFAULT
 * clauses and the psql scripts repeat them; test/library/python.pl compares all.
 */
#ifndef NEARDUP_BASE_DEFAULTS_H
#define NEARDUP_BASE_DEFAULTS_H

#define DEFAULT_SCHEME "word 3"        /* the scheme of minhash and shingles */
#define DEFAULT_SCHEME_SINGLE "word 1" /* the scheme of simhash and lexicons */
#define DEFAULT_MINHASH_K 512
#define DEFAULT_MINHASH_B 1
#define DEFAULT_DECIDED_K \
	192 /* minhash that only says which texts are compared: few bins, soon filled */
#define DEFAULT_DECIDED_B 2
#define DEFAULT_SIMHASH_F 64
#define DEFAULT_LEXICON_ENTRIES 10000
#define DEFAULT_LEXICON_SHARE 0.05
#define DEFAULT_THRESHOLD 0.8 /* the default of the command and the scripts; functions have none */

#endif
