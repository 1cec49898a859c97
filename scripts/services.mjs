/** The servers that the tests start, and where to find each. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @import { Tool } from './executables.mjs' */

/** @param {string} program */
const onPath = (program) => (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, program));

const DEBIAN = '/usr/lib/postgresql';
const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
/** Debian keeps PostgreSQL's programs off the path, one folder per version. The newest version comes first. @param {string} program */
const ofPostgres = (program) => [...versions.map((version) => join(DEBIAN, version, 'bin', program)), ...onPath(program)];

/** @type {Tool} */
export const redis = {
  name: 'redis',
  parts: [
    { variable: 'REDIS_SERVER_PATH', places: onPath('redis-server'), debian: 'redis-server' },
    { variable: 'REDIS_CLI_PATH', places: onPath('redis-cli'), debian: 'redis-tools' },
  ],
  otherwise: 'https://redis.io/downloads/',
};

/** @type {Tool} */
export const postgres = {
  name: 'postgres',
  parts: [
    { variable: 'PG_CTL_PATH', places: ofPostgres('pg_ctl'), debian: 'postgresql' },
    { variable: 'INITDB_PATH', places: ofPostgres('initdb'), debian: 'postgresql' },
  ],
  otherwise: 'https://www.postgresql.org/download/',
};

/** @type {Tool} */
export const prometheus = {
  name: 'prometheus',
  parts: [{ variable: 'PROMETHEUS_PATH', places: onPath('prometheus'), debian: 'prometheus' }],
  otherwise: 'https://prometheus.io/download/',
};

/** Debian keeps it in a folder that is only on root's path. @type {Tool} */
export const pgbouncer = {
  name: 'pgbouncer',
  parts: [{ variable: 'PGBOUNCER_PATH', places: [...onPath('pgbouncer'), '/usr/sbin/pgbouncer'], debian: 'pgbouncer' }],
  otherwise: 'https://www.pgbouncer.org/install.html',
};

export const services = [redis, postgres, pgbouncer, prometheus];
