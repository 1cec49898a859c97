/**
 * Scripts that run inside Redis. A value has four lines: the format, the version's name, the record's place in the index, and the
 * record as JSON. All keys are passed as KEYS, because a cluster finds the node by them, and ioredis prepends its `keyPrefix` to
 * them.
 */

/** The format that these scripts read and write. */
export const FORMAT = '1';

/** Gives the version's name and the place of a value; for a damaged value, its digest and no place. */
const HEAD = `
local function head(value)
  if not value then return '', false end
  local rev, place = string.match(value, '^${FORMAT}\\n([^\\n]*)\\n([^\\n]*)\\n')
  return rev or redis.sha1hex(value), place
end`;

/**
 * Part of every script that reads records. A replica may lag behind, and a demoted master lacks what its successor has, so neither can
 * be trusted. Removing a member that no index has changes nothing on a master, but fails on a read-only server. It must not come
 * before a write: once a script has written, Redis lets it exceed `maxmemory`.
 */
const onMaster = (index: string): string => `redis.call('ZREM', ${index}, '')`;

/**
 * Compare and set for many records, each independently. KEYS: places, times, then the records, each only once. ARGV, for each record:
 * the expected version ('' for none), the guessed time, how far it may be off, then 'keep', 'remove', or 'put' with value, place,
 * forgetAt and time of expiry ('' for never). Gives the time, and for each record {1} if it was done, {0, version, value} with what is
 * stored if it was not, or {-1, error}. All puts come before the removals: once a script has removed something, Redis lets it exceed `maxmemory`.
 */
export const UPDATE = `${HEAD}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends, removals, looked = {now}, {}, false
local failed
local function try(...)
  local said = redis.pcall(...)
  if type(said) == 'table' and said.err then failed = failed or said.err end
  return said
end
local function leave(old, new)
  if old and old ~= new then
    try('ZREM', KEYS[1], old)
    try('ZREM', KEYS[2], old)
  end
end
local at = 1
for n = 1, #KEYS - 2 do
  local key, todo = KEYS[n + 2], ARGV[at + 3]
  failed = nil
  local value = try('GET', key)
  local rev, place
  if not failed then rev, place = head(value) end
  if failed then
    ends[n + 1] = {-1, failed}
  elseif rev ~= ARGV[at] or math.abs(now - ARGV[at + 1]) > tonumber(ARGV[at + 2]) then
    looked = true
    ends[n + 1] = {0, rev, value or ''}
  elseif todo == 'keep' then
    looked = true
    ends[n + 1] = {1}
  elseif todo == 'remove' then
    removals[#removals + 1] = {n, place}
  else
    local new = ARGV[at + 5]
    try('SET', key, ARGV[at + 4])
    if not failed and ARGV[at + 7] ~= '' then try('PEXPIREAT', key, ARGV[at + 7]) end
    if not failed then try('ZADD', KEYS[1], 0, new) end
    if not failed then try('ZADD', KEYS[2], ARGV[at + 6], new) end
    if not failed then leave(place, new) end
    ends[n + 1] = failed and {-1, failed} or {1}
  end
  at = at + (todo == 'put' and 8 or 4)
end
for _, removal in ipairs(removals) do
  local n, place = removal[1], removal[2]
  failed = nil
  try('DEL', KEYS[n + 2])
  if not failed then leave(place) end
  ends[n + 1] = failed and {-1, failed} or {1}
end
if looked then ${onMaster('KEYS[2]')} end
return ends`;

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

/** Removes the index entries of expired records. KEYS: places, times, the records; ARGV: the place of each record. */
export const TIDY = `${HEAD}
for n = 1, #ARGV do
  local _, place = head(redis.call('GET', KEYS[n + 2]))
  if place ~= ARGV[n] then
    redis.call('ZREM', KEYS[1], ARGV[n])
    redis.call('ZREM', KEYS[2], ARGV[n])
  end
end`;

/**
 * KEYS: any key of the store, so that a cluster asks the node that has the records. Gives the eviction policy; '1' or '0' for whether
 * writes are on the disk, at the latest a second later; and the server's role. Each is '' if the user may not run INFO. CONFIG would
 * tell too, but many Redis hosts refuse it.
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
