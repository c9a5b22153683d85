-- What ALTER EXTENSION neardup UPDATE changes in a database of version 0.1.0.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.2.0'" to load this file. \quit
