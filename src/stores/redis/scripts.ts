/**
 * What runs inside Redis. A value is four lines: the format, the version's name, the record's place in the index, and the
 * record as JSON. Keys are handed in, all of them: a cluster finds the node by them, and ioredis puts its `keyPrefix`
 * before them.
 */

/** The format that these scripts read and write. */
export const FORMAT = '1';

/** The version's name and place of a value; of one that is damaged, its digest and no place. */
const HEAD = `
local function head(value)
  if not value then return '', false end
  local rev, place = string.match(value, '^${FORMAT}\\n([^\\n]*)\\n([^\\n]*)\\n')
  return rev or redis.sha1hex(value), place
end`;

/**
 * Goes with every look at records. A replica may lag behind, and a demoted master misses what its successor has, so what
 * either says is no look. Removing a member that no index has changes nothing on a master, and makes a read-only server say so.
 * Never before a write: a script that has written once may go beyond the server's `maxmemory`.
 */
const onMaster = (index: string): string => `redis.call('ZREM', ${index}, '')`;

/**
 * Compare and set. KEYS: record, places, times. ARGV: the expected version ('' for none), the guessed time, how far it may
 * be off, and then nothing (leave it), or 'remove', or 'put' with value, place, forgetAt, and when it expires ('' never).
 * Gives whether that was done, the time, and if it was not: the version and value that are there.
 */
export const UPDATE = `${HEAD}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local value = redis.call('GET', KEYS[1])
local rev, place = head(value)
local todo = ARGV[4]
local right = rev == ARGV[1] and math.abs(now - ARGV[2]) <= tonumber(ARGV[3])
if not right or not todo then ${onMaster('KEYS[3]')} end
if not right then return {0, now, rev, value or ''} end
if not todo then return {1, now} end
if todo == 'put' then
  redis.call('SET', KEYS[1], ARGV[5])
  if ARGV[8] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[8]) end
  redis.call('ZADD', KEYS[2], 0, ARGV[6])
  redis.call('ZADD', KEYS[3], ARGV[7], ARGV[6])
else
  redis.call('DEL', KEYS[1])
end
if place and place ~= ARGV[6] then
  redis.call('ZREM', KEYS[2], place)
  redis.call('ZREM', KEYS[3], place)
end
return {1, now}`;

/** KEYS: record, times. Gives version and value. */
export const READ = `${HEAD}
${onMaster('KEYS[2]')}
local value = redis.call('GET', KEYS[1])
local rev = head(value)
return {rev, value or ''}`;

/** KEYS: times, then records. Gives version and value of each record. */
export const READ_ALL = `${HEAD}
${onMaster('KEYS[1]')}
local found = {}
for n = 1, #KEYS - 1 do
  local value = redis.call('GET', KEYS[n + 1])
  found[2 * n - 1] = head(value)
  found[2 * n] = value or ''
end
return found`;

/** KEYS: places. ARGV: from, to, how many. */
export const PLACES = `${onMaster('KEYS[1]')}
return redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])`;

/** KEYS: times. ARGV: before, offset, how many. */
export const DUE = `${onMaster('KEYS[1]')}
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1], 'LIMIT', ARGV[2], ARGV[3])`;

/** KEYS: places, times, and the records that have expired; ARGV: where each of these was. Removes what led to them. */
export const TIDY = `${HEAD}
for n = 1, #ARGV do
  local _, place = head(redis.call('GET', KEYS[n + 2]))
  if place ~= ARGV[n] then
    redis.call('ZREM', KEYS[1], ARGV[n])
    redis.call('ZREM', KEYS[2], ARGV[n])
  end
end`;

/**
 * KEYS: any, so that a cluster asks the node that has the records. Gives the eviction policy, and whether what was written
 * is on the disk or will be in a second: '1' or '0'; and the server's role. Each is '' where the user may not run INFO. CONFIG is
 * refused by many who host Redis.
 */
export const POLICY = `
local function info(section, pattern)
  local said = redis.pcall('INFO', section)
  return type(said) == 'string' and string.match(said, pattern) or ''
end
return {
  info('memory', 'maxmemory_policy:([%w-]+)'),
  info('persistence', 'aof_enabled:(%d)'),
  info('replication', 'role:(%a+)')
}`;
